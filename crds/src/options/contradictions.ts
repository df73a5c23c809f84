import type { CelRule } from '../schema/custom-resource.ts'
import { toSnakeCase } from '../text/snake-case.ts'
import { type CaptureOptions, isLarge, withDefaults } from './catalog.ts'
import type { Contradiction, OptionName } from './contradiction.ts'
import { cacheOptionNames } from './output/cache.ts'
import { ImageFormat, isMoving, pictureLimits } from './output/image.ts'
import { isPageRanges } from './output/pdf.ts'
import { isStoragePath } from './output/storage.ts'
import { MAX_VIDEO_PIXELS } from './output/video.ts'
import { isFixedTime, isLocale, toTimeZone } from './page/place.ts'
import { NO_COLON, privateOptionNames } from './private.ts'
import { isStatusRange } from './rules/status-ranges.ts'
import { videoContradictions } from './video-contradictions.ts'

/** Maximum device pixels of a viewport. The individual limits allow 7680² × 5², which exceeds the memory of a runner. */
export const MAX_VIEWPORT_PIXELS = 100_000_000

/** Device pixels of the viewport, including the size that a device sets. */
export function windowPixels(options: CaptureOptions): number {
  const { viewportWidth, viewportHeight, deviceScaleFactor } = withDefaults(options)
  return viewportWidth * viewportHeight * deviceScaleFactor ** 2
}

/** Maximum device pixels of the viewport for this format. */
export const maxViewportPixels = (format: string | undefined): number => (isMoving(format) ? MAX_VIDEO_PIXELS : MAX_VIEWPORT_PIXELS)

/** False for options that an object does not show: private options, cache options, and options that may be in the bucket. */
const isShown = (name: string): boolean => !privateOptionNames.includes(name) && !cacheOptionNames.includes(name) && !isLarge(name)

const withRule = (names: readonly string[], rule: string): Pick<Contradiction, 'rule'> => (names.every(isShown) ? { rule } : {})

/** `option` requires that `other` is set too. */
export const needs = (option: OptionName, other: OptionName): Contradiction => ({
  code: `${toSnakeCase(option)}_needs_${toSnakeCase(other)}`,
  paths: [option, other],
  message: `${toSnakeCase(option)} needs ${toSnakeCase(other)}: give both, or leave ${toSnakeCase(option)} out`,
  ...withRule([option, other], `!has(self.${option}) || has(self.${other})`),
  holds: (options) => options[option] !== undefined && options[other] === undefined,
})

/** `option` and `other` cannot both be set. */
export const excludes = (option: OptionName, other: OptionName): Contradiction => ({
  code: `${toSnakeCase(option)}_excludes_${toSnakeCase(other)}`,
  paths: [option, other],
  message: `${toSnakeCase(option)} and ${toSnakeCase(other)} exclude each other: leave one of them out`,
  ...withRule([option, other], `!has(self.${option}) || !has(self.${other})`),
  holds: (options) => options[option] !== undefined && options[other] !== undefined,
})

/** A side of the resized picture with its padding, in CEL. */
const targetSide = (side: string): string => `(double(self.${side}) + (has(self.imagePadding) ? 2.0 * double(self.imagePadding) : 0.0))`
const isFormat = (format: string): string => `has(self.format) && self.format == "${format}"`
const IS_WHOLE = [
  `(${isFormat('webp')})`,
  '(has(self.imageProgressive) && self.imageProgressive)',
  '((!has(self.format) || self.format == "png") && has(self.imagePaletteColors) && self.imagePaletteColors > 0)',
].join(' || ')
const TARGET_PIXELS = `${isFormat('avif')} ? 16000000.0 : ${IS_WHOLE} ? 64000000.0 : 200000000.0`
const TARGET_SIDE = `SIDE <= (${isFormat('webp')} ? 16383.0 : ${isFormat('avif')} ? 16384.0 : 65535.0)`

/** Options that set a media feature, which media_features would override. */
const MEDIA_OPTIONS = [
  { option: 'darkMode', feature: 'prefers-color-scheme', values: { true: 'dark' } },
  { option: 'reducedMotion', feature: 'prefers-reduced-motion', values: { true: 'reduce' } },
  { option: 'forcedColors', feature: 'forced-colors', values: { true: 'active' } },
  { option: 'prefersContrast', feature: 'prefers-contrast', values: { more: 'more', less: 'less' } },
] as const

/** Every contradiction; each has cases in test/support/sources/contradiction-cases.ts. */
export const contradictions: readonly Contradiction[] = [
  {
    code: 'omit_background_needs_png',
    paths: ['omitBackground', 'format'],
    message: 'omit_background needs format png: set format to png, or leave omit_background out',
    rule: '!has(self.omitBackground) || !self.omitBackground || !has(self.format) || self.format == "png"',
    holds: ({ omitBackground, format }) => omitBackground === true && format !== undefined && format !== 'png',
  },
  {
    code: 'window_pixels',
    paths: ['deviceScaleFactor', 'viewportWidth', 'viewportHeight'],
    message: 'viewport width × height × scale² must be at most 100,000,000 device pixels: use a smaller viewport or scale',
    rule: [
      '(has(self.viewportWidth) ? double(self.viewportWidth) : 1920.0)',
      '(has(self.viewportHeight) ? double(self.viewportHeight) : 1080.0)',
      '(has(self.deviceScaleFactor) ? double(self.deviceScaleFactor) : 1.0)',
      '(has(self.deviceScaleFactor) ? double(self.deviceScaleFactor) : 1.0) <= 100000000.0',
    ].join(' * '),
    holds: (options) => {
      // CEL does not know the devices. The gateway and the runner check the viewport that a device sets.
      const { device: _, ...chosen } = options
      return windowPixels(chosen) > MAX_VIEWPORT_PIXELS
    },
  },
  needs('clipX', 'clipY'),
  needs('clipY', 'clipWidth'),
  needs('clipWidth', 'clipHeight'),
  needs('clipHeight', 'clipX'),
  excludes('selector', 'clipX'),
  ...(['selector', 'clipX'] as const).map(
    (option): Contradiction => ({
      code: `${toSnakeCase(option)}_excludes_full_page`,
      paths: [option, 'fullPage'],
      message: `${toSnakeCase(option)} and full_page exclude each other: leave one of them out`,
      rule: `!has(self.${option}) || !has(self.fullPage) || !self.fullPage`,
      holds: (options) => options[option] !== undefined && options.fullPage === true,
    }),
  ),
  ...(['selector', 'clipX', 'thumbnailWidth', 'thumbnailHeight'] as const).map(
    (option): Contradiction => ({
      code: `${toSnakeCase(option)}_needs_a_picture`,
      paths: [option, 'format'],
      message: `${toSnakeCase(option)} is not available for format pdf: use an image format, or leave it out`,
      rule: `!has(self.${option}) || !has(self.format) || self.format != "pdf"`,
      holds: (options) => options[option] !== undefined && options.format === 'pdf',
    }),
  ),
  {
    code: 'image_target_pixels',
    paths: ['imageHeight', 'imageWidth'],
    message:
      'image_width × image_height, with image_padding, exceeds the format: a png or jpeg has at most 200,000,000 pixels, with image_progressive or image_palette_colors 64,000,000; a webp 64,000,000 and 16,383 on a side; an avif 16,000,000 and 16,384. Use smaller values',
    rule: [
      '!has(self.imageWidth) || !has(self.imageHeight) || !has(self.imageFit) || self.imageFit == "inside"',
      '(self.imageFit != "contain" && (!has(self.imageUpscale) || !self.imageUpscale))',
      '(has(self.format) && !(self.format in ["png", "jpeg", "webp", "avif"]))',
      `(${targetSide('imageWidth')} * ${targetSide('imageHeight')} <= (${TARGET_PIXELS})` +
        [`imageWidth`, `imageHeight`].map((side) => ` && (${TARGET_SIDE.replace('SIDE', targetSide(side))})`).join('') +
        ')',
    ].join(' || '),
    holds: ({ imageWidth, imageHeight, imageFit = 'inside', imageUpscale, imagePadding = 0, ...options }) => {
      const { imageProgressive, imagePaletteColors, format = 'png' } = options
      const known = ImageFormat.safeParse(format)
      if (!known.success || imageWidth === undefined || imageHeight === undefined) return false
      // For the other options, the size depends on the page. The runner checks it.
      if (imageFit === 'inside' || (imageFit !== 'contain' && !imageUpscale)) return false
      const { side, pixels } = pictureLimits(known.data, Boolean(imageProgressive) || (format === 'png' && Boolean(imagePaletteColors)))
      const [width, height] = [imageWidth + 2 * imagePadding, imageHeight + 2 * imagePadding]
      return width * height > pixels || Math.max(width, height) > side
    },
  },
  {
    code: 'image_lossless_excludes_jpeg',
    paths: ['imageLossless', 'format'],
    message: 'image_lossless is not available for format jpeg: use webp, avif or png, or leave it out',
    rule: '!has(self.imageLossless) || !self.imageLossless || !has(self.format) || self.format != "jpeg"',
    holds: ({ imageLossless, format }) => imageLossless === true && format === 'jpeg',
  },
  excludes('html', 'markdown'),
  ...(['htmlBaseUrl', 'offline'] as const).map(
    (option): Contradiction => ({
      code: `${toSnakeCase(option)}_needs_markup`,
      paths: [option, 'html', 'markdown'],
      message: `${toSnakeCase(option)} needs html or markdown: give one of them, or leave it out`,
      holds: (options) => Boolean(options[option]) && options.html === undefined && options.markdown === undefined,
    }),
  ),
  needs('geolocationLatitude', 'geolocationLongitude'),
  needs('geolocationLongitude', 'geolocationLatitude'),
  needs('proxyUsername', 'proxy'),
  needs('proxyBypass', 'proxy'),
  {
    code: 'proxy_username_unknown',
    paths: ['proxyUsername', 'proxy'],
    message: `proxy_username ${NO_COLON}`,
    // A hidden value of a schedule is `true` here.
    holds: ({ proxyUsername, proxy = '' }) =>
      typeof proxyUsername === 'string' && proxyUsername.includes(':') && !proxy.startsWith('socks'),
  },
  {
    code: 'dark_mode_force_needs_dark_mode',
    paths: ['darkModeForce', 'darkMode'],
    message: 'dark_mode_force needs dark_mode: true',
    rule: '!has(self.darkModeForce) || !self.darkModeForce || (has(self.darkMode) && self.darkMode)',
    holds: ({ darkModeForce, darkMode }) => darkModeForce === true && darkMode !== true,
  },
  {
    code: 'media_features_contradict',
    paths: ['mediaFeatures', 'darkMode', 'reducedMotion', 'forcedColors', 'prefersContrast'],
    message:
      'media_features must not contradict dark_mode, reduced_motion, forced_colors or prefers_contrast: leave the option or the feature out',
    rule: `!has(self.mediaFeatures) || (${MEDIA_OPTIONS.flatMap(({ option, feature, values }) =>
      Object.entries(values).map(
        ([chosen, value]) =>
          `(!("${feature}" in self.mediaFeatures) || self.mediaFeatures["${feature}"] == "${value}" || !has(self.${option}) || string(self.${option}) != "${chosen}")`,
      ),
    ).join(' && ')})`,
    holds: ({ mediaFeatures = {}, ...options }) =>
      MEDIA_OPTIONS.some(({ option, feature, values }) => {
        const value = (values as Record<string, string>)[String(options[option])]
        return value !== undefined && (mediaFeatures[feature] ?? value) !== value
      }),
  },
  ...[
    ...(['storageEndpoint', 'storageRegion', 'storagePathStyle', 'storagePath', 'storageAccessKeyId'] as const).map((option) =>
      needs(option, 'storageBucket'),
    ),
    ...(['storageEndpoint', 'storageAccessKeyId'] as const).map((other) => needs('storageBucket', other)),
    // No CEL rule: each rule makes every write slower. The operator checks these when it plans a capture.
  ].map(({ rule: _, ...rest }) => rest),
  {
    code: 'storage_path_unknown',
    paths: ['storagePath'],
    message: 'storage_path must not have an empty part, . or .., and supports only {id}, {host}, {date} and {format} in braces',
    holds: ({ storagePath }) => storagePath !== undefined && !isStoragePath(storagePath),
  },
  {
    code: 'cache_excludes_storage_bucket',
    paths: ['cache', 'storageBucket'],
    message: 'cache and storage_bucket exclude each other, because a cached picture is not copied: leave one of them out',
    holds: ({ cache, storageBucket }) => cache === true && storageBucket !== undefined,
  },
  {
    code: 'cache_excludes_compare_to',
    paths: ['cache', 'compareTo'],
    message: 'cache and compare_to exclude each other, because only a new picture can be compared: leave one of them out',
    holds: ({ cache, compareTo }) => cache === true && compareTo !== undefined,
  },
  ...(['imageWidth', 'imageHeight', 'imageTrim', 'imagePadding', 'imageMaxBytes'] as const).map(
    (option): Contradiction => ({
      code: `compare_ignore_excludes_${toSnakeCase(option)}`,
      paths: ['compareIgnore', option],
      message: `compare_ignore and ${toSnakeCase(option)} exclude each other, because the areas would move: leave one of them out`,
      holds: (options) => options.compareIgnore !== undefined && Boolean(options[option]),
    }),
  ),
  {
    code: 'compare_to_needs_a_picture',
    paths: ['compareTo', 'format'],
    message: 'compare_to needs a picture: set format to png, jpeg, webp or avif, or leave compare_to out',
    rule: '!has(self.compareTo) || !has(self.format) || self.format in ["png", "jpeg", "webp", "avif"]',
    holds: ({ compareTo, format }) => compareTo !== undefined && format !== undefined && !ImageFormat.safeParse(format).success,
  },
  ...(['cacheTtl', 'cacheKey', 'cacheRefresh'] as const).map(
    (option): Contradiction => ({
      code: `${toSnakeCase(option)}_needs_cache`,
      paths: [option, 'cache'],
      message: `${toSnakeCase(option)} needs cache: true`,
      holds: (options) => Boolean(options[option]) && options.cache !== true,
    }),
  ),
  {
    code: 'timezone_unknown',
    paths: ['timezone'],
    message: 'timezone must be a name of the IANA database, such as Europe/Vienna, and no abbreviation, such as PST',
    holds: ({ timezone }) => timezone !== undefined && toTimeZone(timezone) === undefined,
  },
  {
    code: 'locale_unknown',
    paths: ['locale'],
    message: 'locale must be a BCP 47 tag, such as de-AT',
    holds: ({ locale }) => locale !== undefined && !isLocale(locale),
  },
  {
    code: 'fixed_time_unknown',
    paths: ['fixedTime'],
    message: 'fixed_time must be an instant between 1990 and 2100, such as 2026-11-21T18:00:00Z',
    holds: ({ fixedTime }) => fixedTime !== undefined && !isFixedTime(fixedTime),
  },
  {
    code: 'pdf_page_ranges_unknown',
    paths: ['pdfPageRanges'],
    message: 'pdf_page_ranges must count pages from 1, and no range may start after its end, such as 1-3,5',
    holds: ({ pdfPageRanges }) => pdfPageRanges !== undefined && !isPageRanges(pdfPageRanges),
  },
  ...(['failOnStatus', 'compareAcceptStatus'] as const).map(
    (option): Contradiction => ({
      code: `${toSnakeCase(option)}_unknown`,
      paths: [option],
      message: `${toSnakeCase(option)} has a range that starts after its end: swap its bounds, such as 500-511`,
      holds: (options) => !(options[option] ?? []).every(isStatusRange),
    }),
  ),
  ...(['htmlBaseUrl', 'referer', 'scriptUrls', 'styleUrls', 'proxy'] as const).map(
    (option): Contradiction => ({
      code: `${toSnakeCase(option)}_unknown`,
      paths: [option],
      message: `${toSnakeCase(option)} is not a valid URL. Check host and port`,
      holds: (options) => [options[option] ?? []].flat().some((address) => !URL.canParse(address)),
    }),
  ),
  {
    code: 'job_timeout_covers_timeout_and_delay',
    paths: ['jobTimeout', 'timeout', 'delay'],
    message: 'job_timeout must be at least the sum of timeout and delay: raise job_timeout, or lower the others',
    rule: '!has(self.jobTimeout) || self.jobTimeout >= (has(self.timeout) ? self.timeout : 30000) + (has(self.delay) ? self.delay : 0)',
    holds: ({ jobTimeout, timeout = 30000, delay = 0 }) => jobTimeout !== undefined && jobTimeout < timeout + delay,
  },
  ...videoContradictions,
]

/** The rules that the API server checks. */
export const contradictionRules: CelRule[] = contradictions.flatMap(({ rule, message }) => (rule === undefined ? [] : [{ rule, message }]))
