const MAX_LENGTH = 64

/** Damerau-Levenshtein distance of two words. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      const steps = [rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + change]
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps.push(rows[i - 2]![j - 2]! + 1)
      row.push(Math.min(...steps))
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}

/** Normalizes a name: lower case, without dashes and underscores. */
export const toPlainName = (name: string): string =>
  name
    .slice(0, MAX_LENGTH)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')

/** The closest known name, or undefined when none is close. Ignores case, dashes and underscores. */
export function findNearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = toPlainName(name)
  const limit = Math.max(1, Math.floor(wanted.length / 3))
  const [nearest] = known
    .map((candidate) => ({ candidate, plain: toPlainName(candidate) }))
    // Each step changes the length by one at most.
    .filter(({ plain }) => Math.abs(plain.length - wanted.length) <= limit)
    .map(({ candidate, plain }) => ({ candidate, steps: distance(wanted, plain) }))
    .filter(({ steps }) => steps <= limit)
    .sort((a, b) => a.steps - b.steps)
  return nearest?.candidate
}

/**
 * Names of options in other screenshot services and browser libraries, mapped to the names here. The closest name is not always right: `width` is
 * as close to `clip_width`. Keys are lower case without separators.
 */
export const NAME_SUGGESTIONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    acceptlang: 'accept_language',
    ads: 'block_ads',
    bucket: 'storage_bucket',
    clickaccept: 'block_cookie_banners',
    clip: 'clip_x',
    cookie: 'cookies',
    css: 'styles',
    customcss: 'styles',
    customjs: 'scripts',
    delayms: 'delay',
    devicename: 'device',
    dpr: 'device_scale_factor',
    element: 'selector',
    failifselectormissing: 'error_on_selector_not_found',
    filetype: 'format',
    force: 'cache_refresh',
    fresh: 'cache_refresh',
    fullpageheight: 'full_page_max_height',
    header: 'headers',
    height: 'viewport_height',
    hidecookiebanners: 'block_cookie_banners',
    imageformat: 'format',
    imgbg: 'image_background',
    imgfit: 'image_fit',
    imgpad: 'image_padding',
    imgposition: 'image_position',
    javascript: 'javascript_enabled',
    js: 'scripts',
    landscape: 'viewport_landscape',
    lat: 'geolocation_latitude',
    latitude: 'geolocation_latitude',
    lng: 'geolocation_longitude',
    longitude: 'geolocation_longitude',
    maxheight: 'full_page_max_height',
    media: 'media_type',
    mobile: 'viewport_mobile',
    navigationtimeout: 'timeout',
    nocookiebanners: 'block_cookie_banners',
    output: 'format',
    pdfmargin: 'pdf_margin_top',
    pdforientation: 'pdf_landscape',
    pdfpagesize: 'pdf_paper_format',
    quality: 'image_quality',
    removebackground: 'omit_background',
    retina: 'device_scale_factor',
    s3bucket: 'storage_bucket',
    s3endpoint: 'storage_endpoint',
    s3forcepathstyle: 'storage_path_style',
    s3path: 'storage_path',
    s3region: 'storage_region',
    scale: 'device_scale_factor',
    scalefactor: 'device_scale_factor',
    scrollto: 'scroll_into_view',
    thumbheight: 'thumbnail_height',
    thumbwidth: 'thumbnail_width',
    timezoneid: 'timezone',
    touch: 'viewport_has_touch',
    trackers: 'block_trackers',
    transparent: 'omit_background',
    ttl: 'cache_ttl',
    type: 'format',
    tz: 'timezone',
    ua: 'user_agent',
    unique: 'cache_key',
    viewport: 'viewport_width',
    wait: 'delay',
    waitfor: 'wait_for_selector',
    waitfortimeout: 'wait_for_selector_timeout',
    width: 'viewport_width',
    zoom: 'page_zoom',
  }),
)
