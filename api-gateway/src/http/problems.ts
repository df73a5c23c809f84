import type { ProblemCode } from '@tintype/crds/schema/errors'
import {
  describeIssue,
  type Issue,
  nameOf,
  namesAt,
  type Reading,
  toMeantIssues,
  toPath,
  valueAt,
} from '@tintype/crds/schema/issue-messages'
import { findNearestName, toPlainName, toPlainNames } from '@tintype/crds/text/words'
import type { Problem } from '../common/errors.ts'

/** Known field names by the path of their object (`''`, `options`). */
export type KnownNames = Readonly<Record<string, readonly string[]>>

const MAX_NAME_LENGTH = 64

/** The path of a field relative to an object: `options.delay`, or `delay` in the same object. */
function findElsewhere(plain: string | undefined, place: string, known: KnownNames): string | undefined {
  if (plain === undefined) return undefined
  for (const candidate of [place, ...Object.keys(known)]) {
    const names = known[candidate] ?? []
    const name = names[toPlainNames(names).indexOf(plain)]
    if (name !== undefined) return candidate === place ? name : candidate === '' ? `${name} at the top level` : `${candidate}.${name}`
  }
  return undefined
}

/** The problem for an unknown name, with the closest known name in this or another object. Each name costs time: {@link unknownNames} limits them. */
export function unknownName(place: string, name: string, known: KnownNames): Problem {
  const shown = name.slice(0, MAX_NAME_LENGTH)
  const plain = toPlainName(name)
  const here = known[place] ?? []
  const other = NAME_SUGGESTIONS.get(plain)
  const meant =
    findElsewhere(plain, place, known) ?? findElsewhere(other && toPlainName(other), place, known) ?? findNearestName(name, here)
  const message = meant === undefined ? `${shown} is not known here` : `${shown} is not known here; did you mean ${meant}?`
  return { path: toPath([...(place === '' ? [] : [place]), shown]), code: 'unknown_field', message }
}

/** Problem codes by zod's issue codes. */
const CODES: Partial<Record<Issue['code'], ProblemCode>> = {
  invalid_type: 'invalid_type',
  too_big: 'too_big',
  too_small: 'too_small',
  invalid_format: 'invalid_format',
  invalid_key: 'invalid_format',
}

/** Issues of a body that get a problem of their own. A batch has one for each of its URLs. */
const MAX_ISSUES = 100

/** Converts the issues of a schema to problems, one for each field. */
export function toProblems(issues: readonly Issue[], known: KnownNames, reading: Reading): Problem[] {
  const problems = issues
    .slice(0, MAX_ISSUES)
    .flatMap(toMeantIssues)
    .flatMap((issue): Problem[] => {
      const path = toPath(issue.path)
      const name = nameOf(path)
      if (issue.code === 'unrecognized_keys')
        return unknownNames(path, issue.keys, { [path]: namesAt(reading.schema, issue.path), ...known })
      if (valueAt(reading.body, issue.path) === undefined) return [{ path, code: 'required', message: `${name} is required` }]
      return [{ path, code: CODES[issue.code] ?? 'invalid_value', message: describeIssue(issue, name, reading) }]
    })
  const more = issues.length - MAX_ISSUES
  if (more > 0) problems.push({ path: '', code: 'invalid_value', message: `${more} more values of the body are not valid` })
  const seen = new Set<string>()
  return problems.filter(({ path }) => !seen.has(path) && seen.add(path))
}

/** Adds problems of fields that have none yet. */
export const addProblems = (found: readonly Problem[], more: readonly Problem[]): Problem[] => [
  ...found,
  ...more.filter(({ path }) => !found.some((other) => other.path === path)),
]

/** Unknown names of an object that get a problem of their own. Each is compared with all known names. */
const MAX_UNKNOWN_NAMES = 50

/** The problems for the unknown names of an object. @param what the object in the message */
export function unknownNames(place: string, names: readonly string[], known: KnownNames, what = nameOf(place)): Problem[] {
  const problems = names.slice(0, MAX_UNKNOWN_NAMES).map((name) => unknownName(place, name, known))
  const more = names.length - problems.length
  return more === 0
    ? problems
    : [...problems, { path: place, code: 'unknown_field', message: `${more} more names in ${what} are not known` }]
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
