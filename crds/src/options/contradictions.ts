import type { CelRule } from '../schema/custom-resource.ts'
import { toSnakeCase } from '../text/words.ts'
import { type CaptureOptions, captureDefaults, type EffectiveOptions, withDefaults } from './catalog.ts'
import { type AllOptions, all, any, type Condition, formula, given, is, not, type OptionName, on, other, set } from './conditions.ts'
import { isStoragePath } from './output/delivery.ts'
import {
  ImageFormat,
  isMoving,
  isPageRanges,
  isScrollWithinVideo,
  MAX_GIF_SECONDS,
  MAX_VIDEO_FRAMES,
  MAX_VIDEO_PIXELS,
  MIN_SCROLL_MILLISECONDS,
  MovingFormat,
  pictureLimits,
  videoGroup,
} from './output/formats.ts'
import { isFixedTime, isLocale, toTimeZone } from './page/browser.ts'
import { NO_COLON } from './private.ts'
import { isStatusRange } from './rules/texts.ts'

/**
 * Options that cannot be combined. The gateway checks this, the API server checks it with CEL if the object shows all the options, and the
 * operator checks it again when it plans a capture.
 */
export interface Contradiction {
  /** Name in tests. */
  code: string
  /** The options involved, in camel case. Errors point at the first that is set. */
  paths: readonly [OptionName, ...OptionName[]]
  /** What is wrong, and how to fix it. */
  message: string
  /** The check in CEL. Undefined if an option is not visible to the API server. */
  rule: string | undefined
  holds(options: AllOptions): boolean
}

const refuse = (code: string, { options, holds, opposite }: Condition, message: string, paths = options): Contradiction => ({
  code,
  paths: paths as Contradiction['paths'],
  message,
  rule: opposite,
  holds,
})

/** Without CEL, because each rule makes every write slower. The programs check it. */
const unruled = (contradiction: Contradiction): Contradiction => ({ ...contradiction, rule: undefined })

/** Maximum device pixels of a viewport. The individual limits allow 7680² × 5², which exceeds the memory of a runner. */
const MAX_VIEWPORT_PIXELS = 100_000_000

const pixelsOf = ({ viewportWidth, viewportHeight, deviceScaleFactor }: EffectiveOptions): number =>
  viewportWidth * viewportHeight * deviceScaleFactor ** 2

/** Device pixels of the viewport, including the size that a device sets. */
export const windowPixels = (options: CaptureOptions): number => pixelsOf(withDefaults(options))

/** Maximum device pixels of the viewport for this format. */
export const maxViewportPixels = (format: string | undefined): number => (isMoving(format) ? MAX_VIDEO_PIXELS : MAX_VIEWPORT_PIXELS)

const isLargerThan = (pixels: number): Condition => {
  const sides = (['viewportWidth', 'viewportHeight', 'deviceScaleFactor', 'deviceScaleFactor'] as const).map(
    (name) => `(has(self.${name}) ? double(self.${name}) : ${captureDefaults[name]}.0)`,
  )
  const factors: OptionName[] = ['deviceScaleFactor', 'viewportWidth', 'viewportHeight']
  return formula(factors, `${sides.join(' * ')} <= ${pixels}.0`, (options) => pixelsOf(options) > pixels)
}

/** `option` requires that `needed` is set too. */
const needs = (option: OptionName, needed: OptionName): Contradiction => {
  const [name, missing] = [toSnakeCase(option), toSnakeCase(needed)]
  return refuse(`${name}_needs_${missing}`, all(set(option), not(set(needed))), `${name} needs ${missing}: give both, or leave ${name} out`)
}

/** Only one of the two can be set. `condition` and `why` are for other forms of this. */
const excludes = (option: OptionName, rival: OptionName, condition = all(set(option), set(rival)), why = ''): Contradiction => {
  const [name, excluded] = [toSnakeCase(option), toSnakeCase(rival)]
  return refuse(`${name}_excludes_${excluded}`, condition, `${name} and ${excluded} exclude each other${why}: leave one of them out`)
}

/** The value of `option` is not one that the schema alone can tell. */
const unknown = <Name extends OptionName>(
  option: Name,
  isKnown: (value: NonNullable<AllOptions[Name]>) => boolean,
  message: string,
): Contradiction => ({
  code: `${toSnakeCase(option)}_unknown`,
  paths: [option],
  message: `${toSnakeCase(option)} ${message}`,
  rule: undefined,
  holds: ({ [option]: value }) => value !== undefined && !isKnown(value as NonNullable<typeof value>),
})

/** A side of the resized picture with its padding, in CEL. */
const targetSide = (side: string): string => `(double(self.${side}) + (has(self.imagePadding) ? 2.0 * double(self.imagePadding) : 0.0))`
const IS_WHOLE = [
  `(${is('format', 'webp').cel})`,
  `(${on('imageProgressive').cel})`,
  '((!has(self.format) || self.format == "png") && has(self.imagePaletteColors) && self.imagePaletteColors > 0)',
].join(' || ')
const TARGET_PIXELS = `${is('format', 'avif').cel} ? 16000000.0 : ${IS_WHOLE} ? 64000000.0 : 200000000.0`
const TARGET_SIDE = `SIDE <= (${is('format', 'webp').cel} ? 16383.0 : ${is('format', 'avif').cel} ? 16384.0 : 65535.0)`

const targetFits = [
  '!has(self.imageWidth) || !has(self.imageHeight) || !has(self.imageFit) || self.imageFit == "inside"',
  '(self.imageFit != "contain" && (!has(self.imageUpscale) || !self.imageUpscale))',
  '(has(self.format) && !(self.format in ["png", "jpeg", "webp", "avif"]))',
  `(${targetSide('imageWidth')} * ${targetSide('imageHeight')} <= (${TARGET_PIXELS})` +
    ['imageWidth', 'imageHeight'].map((side) => ` && (${TARGET_SIDE.replace('SIDE', targetSide(side))})`).join('') +
    ')',
].join(' || ')

function exceedsFormat(options: EffectiveOptions): boolean {
  const { imageWidth, imageHeight, imageFit, imagePadding, imagePaletteColors, format } = options
  const known = ImageFormat.safeParse(format)
  if (!known.success || imageWidth === undefined || imageHeight === undefined) return false
  // For the other options, the size depends on the page. The runner checks it.
  if (imageFit === 'inside' || (imageFit !== 'contain' && !options.imageUpscale)) return false
  const { side, pixels } = pictureLimits(known.data, options.imageProgressive || (format === 'png' && imagePaletteColors > 0))
  const [width, height] = [imageWidth + 2 * imagePadding, imageHeight + 2 * imagePadding]
  return width * height > pixels || Math.max(width, height) > side
}

/** Options that set a media feature, which media_features would override. */
const MEDIA_OPTIONS = [
  { option: 'darkMode', feature: 'prefers-color-scheme', chosen: 'true', value: 'dark' },
  { option: 'reducedMotion', feature: 'prefers-reduced-motion', chosen: 'true', value: 'reduce' },
  { option: 'forcedColors', feature: 'forced-colors', chosen: 'true', value: 'active' },
  { option: 'prefersContrast', feature: 'prefers-contrast', chosen: 'more', value: 'more' },
  { option: 'prefersContrast', feature: 'prefers-contrast', chosen: 'less', value: 'less' },
] as const
const mediaAgrees = MEDIA_OPTIONS.map(
  ({ option, feature, chosen, value }) =>
    `(!("${feature}" in self.mediaFeatures) || self.mediaFeatures["${feature}"] == "${value}" || !has(self.${option}) || string(self.${option}) != "${chosen}")`,
).join(' && ')

const VIDEO_OPTIONS = Object.keys(videoGroup.options) as (keyof typeof videoGroup.options)[]
const SCROLL_OPTIONS = VIDEO_OPTIONS.filter((name) => name.startsWith('videoScroll'))
const isVideo = is('format', ...MovingFormat.options)
/** Options that show another part of the page, or change the picture. A video always shows the viewport. */
const STILL_OPTIONS = ['selector', 'clipX', 'imageWidth', 'imageHeight', 'imageMaxBytes', 'thumbnailWidth', 'thumbnailHeight'] as const

/** Each contradiction of videos. A CEL rule covers several options, because each rule makes every write slower. */
const videoContradictions: readonly Contradiction[] = [
  refuse(
    'video_options_need_a_video',
    all(not(isVideo), any(...VIDEO_OPTIONS.map(set))),
    'options of videos need format mp4, webm or gif: set format, or leave them out',
    [...VIDEO_OPTIONS, 'format'],
  ),
  refuse(
    'scroll_options_need_scroll',
    all(not(is('videoScenario', 'scroll')), any(...SCROLL_OPTIONS.map(set))),
    'options of the scroll need video_scenario scroll: set it, or leave them out',
    [...SCROLL_OPTIONS, 'videoScenario'],
  ),
  refuse(
    'video_frames',
    formula(
      ['videoDuration', 'videoFps'],
      `${given('videoDuration')} * ${given('videoFps')} <= ${MAX_VIDEO_FRAMES}`,
      ({ videoDuration, videoFps }) => videoDuration * videoFps > MAX_VIDEO_FRAMES,
    ),
    `video_duration × video_fps must be at most ${MAX_VIDEO_FRAMES} frames: lower one of them`,
  ),
  refuse(
    'gif_duration',
    all(
      set('videoDuration'),
      formula([], `self.videoDuration <= ${MAX_GIF_SECONDS}`, ({ videoDuration }) => videoDuration > MAX_GIF_SECONDS),
      is('format', 'gif'),
    ),
    `a gif has at most ${MAX_GIF_SECONDS} seconds: lower video_duration, or set format to mp4 or webm`,
  ),
  refuse(
    'scroll_within_video',
    all(
      is('videoScenario', 'scroll'),
      formula(
        [],
        `2 * ${given('videoScrollPause')} + (has(self.videoScrollDuration) ? self.videoScrollDuration : ${MIN_SCROLL_MILLISECONDS}) * (${on('videoScrollBack').cel} ? 2 : 1) <= 1000 * ${given('videoDuration')}`,
        (options) => !isScrollWithinVideo(options),
      ),
    ),
    'the scroll does not fit into the video: raise video_duration, or lower video_scroll_duration, which counts twice with video_scroll_back, or video_scroll_pause, which counts twice',
    ['videoScrollDuration', 'videoScrollPause', 'videoDuration', 'videoScrollBack', 'videoScenario'],
  ),
  refuse(
    'video_shows_the_viewport',
    all(isVideo, any(on('fullPage'), ...STILL_OPTIONS.map(set))),
    'a video shows the viewport: leave out full_page, selector, clip_x, image_width, image_height, image_max_bytes, thumbnail_width and thumbnail_height, or use an image format. video_width sets the width, and video_poster stores a picture',
    ['fullPage', ...STILL_OPTIONS, 'format'],
  ),
  refuse(
    'video_pixels',
    all(isVideo, isLargerThan(MAX_VIDEO_PIXELS)),
    'viewport width × height × scale² of a video must be at most 8,294,400 device pixels: use a smaller viewport or scale',
    ['deviceScaleFactor', 'viewportWidth', 'viewportHeight', 'format'],
  ),
  refuse(
    'capture_timeout_covers_video',
    all(
      set('captureTimeout'),
      is('videoTiming', 'real'),
      formula(
        [],
        `self.captureTimeout >= 1000 * ${given('videoDuration')}`,
        (options) => options.captureTimeout! < 1_000 * options.videoDuration,
      ),
    ),
    'capture_timeout must be at least video_duration if video_timing is real: raise capture_timeout or leave it out, or lower video_duration',
    ['captureTimeout', 'videoDuration', 'videoTiming'],
  ),
]

/** Every contradiction; each has cases in test/support/sources/contradiction-cases.ts. */
export const contradictions: readonly Contradiction[] = [
  refuse(
    'omit_background_needs_png',
    all(on('omitBackground'), other('format', 'png')),
    'omit_background needs format png: set format to png, or leave omit_background out',
  ),
  refuse(
    'window_pixels',
    isLargerThan(MAX_VIEWPORT_PIXELS),
    'viewport width × height × scale² must be at most 100,000,000 device pixels: use a smaller viewport or scale',
  ),
  needs('clipX', 'clipY'),
  needs('clipY', 'clipWidth'),
  needs('clipWidth', 'clipHeight'),
  needs('clipHeight', 'clipX'),
  excludes('selector', 'clipX'),
  ...(['selector', 'clipX'] as const).map((option) => excludes(option, 'fullPage', all(set(option), on('fullPage')))),
  ...(['selector', 'clipX', 'thumbnailWidth', 'thumbnailHeight'] as const).map((option) => {
    const name = toSnakeCase(option)
    const message = `${name} is not available for format pdf: use an image format, or leave it out`
    return refuse(`${name}_needs_a_picture`, all(set(option), is('format', 'pdf')), message)
  }),
  refuse(
    'image_target_pixels',
    formula(['imageHeight', 'imageWidth'], targetFits, exceedsFormat),
    'image_width × image_height, with image_padding, exceeds the format: a png or jpeg has at most 200,000,000 pixels, with image_progressive or image_palette_colors 64,000,000; a webp 64,000,000 and 16,383 on a side; an avif 16,000,000 and 16,384. Use smaller values',
  ),
  refuse(
    'image_lossless_excludes_jpeg',
    all(on('imageLossless'), is('format', 'jpeg')),
    'image_lossless is not available for format jpeg: use webp, avif or png, or leave it out',
  ),
  excludes('html', 'markdown'),
  ...(['htmlBaseUrl', 'offline'] as const).map((option) => {
    const message = `${toSnakeCase(option)} needs html or markdown: give one of them, or leave it out`
    return refuse(`${toSnakeCase(option)}_needs_markup`, all(on(option), not(set('html')), not(set('markdown'))), message)
  }),
  needs('geolocationLatitude', 'geolocationLongitude'),
  needs('geolocationLongitude', 'geolocationLatitude'),
  needs('proxyUsername', 'proxy'),
  needs('proxyBypass', 'proxy'),
  {
    ...unknown('proxyUsername', () => true, NO_COLON),
    paths: ['proxyUsername', 'proxy'],
    // A hidden value of a schedule is `true` here.
    holds: ({ proxyUsername, proxy = '' }) =>
      typeof proxyUsername === 'string' && proxyUsername.includes(':') && !proxy.startsWith('socks'),
  },
  refuse('dark_mode_force_needs_dark_mode', all(on('darkModeForce'), not(on('darkMode'))), 'dark_mode_force needs dark_mode: true'),
  refuse(
    'media_features_contradict',
    all(
      set('mediaFeatures'),
      formula(['darkMode', 'reducedMotion', 'forcedColors', 'prefersContrast'], mediaAgrees, ({ mediaFeatures = {}, ...options }) =>
        MEDIA_OPTIONS.some(
          ({ option, feature, chosen, value }) => String(options[option]) === chosen && (mediaFeatures[feature] ?? value) !== value,
        ),
      ),
    ),
    'media_features must not contradict dark_mode, reduced_motion, forced_colors or prefers_contrast: leave the option or the feature out',
  ),
  ...(['storageEndpoint', 'storageRegion', 'storagePathStyle', 'storagePath', 'storageAccessKeyId'] as const).map((option) =>
    unruled(needs(option, 'storageBucket')),
  ),
  ...(['storageEndpoint', 'storageAccessKeyId'] as const).map((option) => unruled(needs('storageBucket', option))),
  unknown(
    'storagePath',
    isStoragePath,
    'must not have an empty part, . or .., and supports only {id}, {host}, {date} and {format} in braces',
  ),
  excludes('cache', 'storageBucket', all(on('cache'), set('storageBucket')), ', because a cached picture is not copied'),
  excludes('cache', 'compareTo', all(on('cache'), set('compareTo')), ', because only a new picture can be compared'),
  ...(['imageWidth', 'imageHeight', 'imageTrim', 'imagePadding', 'imageMaxBytes'] as const).map((option) =>
    unruled(excludes('compareIgnore', option, all(set('compareIgnore'), on(option)), ', because the areas would move')),
  ),
  refuse(
    'compare_to_needs_a_picture',
    all(set('compareTo'), other('format', ...ImageFormat.options)),
    'compare_to needs a picture: set format to png, jpeg, webp or avif, or leave compare_to out',
  ),
  refuse(
    'preview_needs_a_picture',
    all(set('preview'), other('format', ...ImageFormat.options)),
    'preview needs a picture: set format to png, jpeg, webp or avif, or leave preview out',
  ),
  ...(['cacheTtl', 'cacheKey', 'cacheRefresh'] as const).map((option) =>
    refuse(`${toSnakeCase(option)}_needs_cache`, all(on(option), not(on('cache'))), `${toSnakeCase(option)} needs cache: true`),
  ),
  unknown(
    'timezone',
    (name) => toTimeZone(name) !== undefined,
    'must be a name of the IANA database, such as Europe/Vienna, and no abbreviation, such as PST',
  ),
  unknown('locale', isLocale, 'must be a BCP 47 tag, such as de-AT'),
  unknown('fixedTime', isFixedTime, 'must be an instant between 1990 and 2100, such as 2026-11-21T18:00:00Z'),
  unknown('pdfPageRanges', isPageRanges, 'must count pages from 1, and no range may start after its end, such as 1-3,5'),
  ...(['failOnStatus', 'compareAcceptStatus'] as const).map((option) =>
    unknown(option, (ranges) => ranges.every(isStatusRange), 'has a range that starts after its end: swap its bounds, such as 500-511'),
  ),
  ...(['htmlBaseUrl', 'referer', 'scriptUrls', 'styleUrls', 'proxy'] as const).map((option) =>
    unknown(option, (value) => [value].flat().every((url) => URL.canParse(url)), 'is not a valid URL. Check host and port'),
  ),
  refuse(
    'job_timeout_covers_timeout_and_delay',
    all(
      set('jobTimeout'),
      formula(
        ['timeout', 'delay'],
        `self.jobTimeout >= ${given('timeout')} + ${given('delay')}`,
        ({ jobTimeout = 0, timeout, delay }) => jobTimeout < timeout + delay,
      ),
    ),
    'job_timeout must be at least the sum of timeout and delay: raise job_timeout, or lower the others',
  ),
  ...videoContradictions,
]

/** The rules that the API server checks. */
export const contradictionRules: CelRule[] = contradictions.flatMap(({ rule, message }) => (rule === undefined ? [] : [{ rule, message }]))

/** The two need each other. */
const together = (option: OptionName, partner: OptionName): Contradiction => {
  const condition = any(all(set(option), not(set(partner))), all(set(partner), not(set(option))))
  const message = `${toSnakeCase(partner)} and ${toSnakeCase(option)} need each other: give both, or leave both out`
  return refuse(`${toSnakeCase(option)}_with_${toSnakeCase(partner)}`, condition, message)
}

/** Private options that cannot be combined. The gateway checks these, and the operator checks them for options from a Secret. */
export const privateContradictions: readonly Contradiction[] = [
  together('basicAuthPassword', 'basicAuthUsername'),
  together('storageSecretAccessKey', 'storageAccessKeyId'),
  refuse(
    'proxy_password_needs_proxy_username',
    all(set('proxyPassword'), not(set('proxyUsername'))),
    'proxy_password needs proxy_username: give both, or leave proxy_password out',
  ),
  refuse(
    'authorization_excludes_basic_auth',
    all(set('authorization'), set('basicAuthUsername')),
    'authorization and basic_auth_username exclude each other: leave one of them out. Credentials in url count as basic_auth_username',
  ),
  refuse(
    'headers_exclude_authorization',
    {
      options: ['headers'],
      holds: ({ headers = {}, authorization, basicAuthUsername }) =>
        Object.keys(headers).some((name) => name.toLowerCase() === 'authorization') && (authorization ?? basicAuthUsername) !== undefined,
    },
    'headers must not contain Authorization together with authorization or basic_auth_username: leave one of them out',
  ),
]
