import type { CelRule } from '../schema/custom-resource.ts'
import { toSnakeCase } from '../text/snake-case.ts'
import { type CaptureOptions, LARGE_OPTIONS, withDefaults } from './catalogue.ts'
import { type CacheOptions, cacheOptionNames } from './output/cache.ts'
import { isPageRanges } from './output/pdf.ts'
import { isStoragePath } from './output/storage.ts'
import { isStatusRange } from './page/failing.ts'
import { isFixedTime, isLocale, isTimeZone } from './page/place.ts'
import { type PrivateOptions, privateOptionNames } from './private.ts'

/** All that may be asked for of one capture, private or not, and of the cache. */
export type AllOptions = CaptureOptions & PrivateOptions & CacheOptions
type Name = keyof AllOptions & string

/** Device pixels that one window may have: 7680² × 5² would not fit in any runner. */
export const MAX_VIEWPORT_PIXELS = 100_000_000

/** Device pixels of the window that the options ask for, a device's among them. */
export function windowPixels(options: CaptureOptions): number {
  const { viewportWidth, viewportHeight, deviceScaleFactor } = withDefaults(options)
  return viewportWidth * viewportHeight * deviceScaleFactor ** 2
}

/**
 * Options that cannot hold together: said once, judged by the gateway, by the API server where CEL can see both of them, and once more when a
 * capture is planned.
 */
export interface Contradiction {
  /** Its name, for tests and for the page of options. */
  code: string
  /** The options that it is about, in camel case; errors point at the first. */
  paths: readonly [Name, ...Name[]]
  /** What is wrong, and the way out. */
  message: string
  /** The same in CEL; absent where the API server does not see every option that it is about. */
  rule?: string
  holds(options: AllOptions): boolean
}

/** False for what an object does not show: private options, those of the cache, and those that may be in the bucket. */
const isShown = (name: string): boolean =>
  !privateOptionNames.includes(name) && !cacheOptionNames.includes(name) && !LARGE_OPTIONS.some((large) => large === name)

const withRule = (names: readonly string[], rule: string): Pick<Contradiction, 'rule'> => (names.every(isShown) ? { rule } : {})

/** `option` means nothing without `other`, which has to be chosen too. */
export const needs = (option: Name, other: Name): Contradiction => ({
  code: `${toSnakeCase(option)}_needs_${toSnakeCase(other)}`,
  paths: [option, other],
  message: `${toSnakeCase(option)} needs ${toSnakeCase(other)}: give both, or leave ${toSnakeCase(option)} out`,
  ...withRule([option, other], `!has(self.${option}) || has(self.${other})`),
  holds: (options) => options[option] !== undefined && options[other] === undefined,
})

/** `option` and `other` cannot both be chosen. */
export const excludes = (option: Name, other: Name): Contradiction => ({
  code: `${toSnakeCase(option)}_excludes_${toSnakeCase(other)}`,
  paths: [option, other],
  message: `${toSnakeCase(option)} and ${toSnakeCase(other)} exclude each other: leave one of them out`,
  ...withRule([option, other], `!has(self.${option}) || !has(self.${other})`),
  holds: (options) => options[option] !== undefined && options[other] !== undefined,
})

/** Every contradiction; each has cases in test/support/sources/contradiction-cases.ts. */
export const contradictions: readonly Contradiction[] = [
  {
    code: 'omit_background_needs_png',
    paths: ['omitBackground', 'format'],
    message: 'a transparent background needs format png: choose it, or leave omit_background out',
    rule: '!has(self.omitBackground) || !self.omitBackground || !has(self.format) || self.format == "png"',
    holds: ({ omitBackground, format }) => omitBackground === true && format !== undefined && format !== 'png',
  },
  {
    code: 'window_pixels',
    paths: ['deviceScaleFactor', 'viewportWidth', 'viewportHeight'],
    message: 'viewport width × height × scale² is at most 100,000,000 device pixels: choose a smaller window or scale',
    rule: [
      '(has(self.viewportWidth) ? double(self.viewportWidth) : 1920.0)',
      '(has(self.viewportHeight) ? double(self.viewportHeight) : 1080.0)',
      '(has(self.deviceScaleFactor) ? double(self.deviceScaleFactor) : 1.0)',
      '(has(self.deviceScaleFactor) ? double(self.deviceScaleFactor) : 1.0) <= 100000000.0',
    ].join(' * '),
    holds: (options) => {
      // CEL knows no devices: what one stands for is judged where options are read and where they are carried out.
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
      message: `${toSnakeCase(option)} captures a part of the page, full_page all of it: leave one of them out`,
      rule: `!has(self.${option}) || !has(self.fullPage) || !self.fullPage`,
      holds: (options) => options[option] !== undefined && options.fullPage === true,
    }),
  ),
  ...(['selector', 'clipX', 'thumbnailWidth', 'thumbnailHeight'] as const).map(
    (option): Contradiction => ({
      code: `${toSnakeCase(option)}_needs_a_picture`,
      paths: [option, 'format'],
      message: `${toSnakeCase(option)} is for pictures: choose another format than pdf, or leave it out`,
      rule: `!has(self.${option}) || !has(self.format) || self.format != "pdf"`,
      holds: (options) => options[option] !== undefined && options.format === 'pdf',
    }),
  ),
  {
    code: 'image_lossless_excludes_jpeg',
    paths: ['imageLossless', 'format'],
    message: 'a jpeg always has losses: choose webp, avif or png, or leave image_lossless out',
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
    code: 'dark_mode_force_needs_dark_mode',
    paths: ['darkModeForce', 'darkMode'],
    message: 'dark_mode_force needs dark_mode: true',
    rule: '!has(self.darkModeForce) || !self.darkModeForce || (has(self.darkMode) && self.darkMode)',
    holds: ({ darkModeForce, darkMode }) => darkModeForce === true && darkMode !== true,
  },
  ...[
    ...(['storageEndpoint', 'storageRegion', 'storagePath', 'storageAccessKeyId'] as const).map((option) => needs(option, 'storageBucket')),
    ...(['storageEndpoint', 'storageAccessKeyId'] as const).map((other) => needs('storageBucket', other)),
    // Judged where a capture is planned: a rule in every object would cost each write something.
  ].map(({ rule: _, ...rest }) => rest),
  {
    code: 'storage_path_unknown',
    paths: ['storagePath'],
    message: 'storage_path must have no part that is empty, . or .., and in braces only {id}, {host}, {date} and {format}',
    holds: ({ storagePath }) => storagePath !== undefined && !isStoragePath(storagePath),
  },
  {
    code: 'cache_excludes_storage_bucket',
    paths: ['cache', 'storageBucket'],
    message: 'what is taken from the cache is not copied: leave cache or storage_bucket out',
    holds: ({ cache, storageBucket }) => cache === true && storageBucket !== undefined,
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
    message: 'timezone is no IANA time zone, such as Europe/Vienna',
    holds: ({ timezone }) => timezone !== undefined && !isTimeZone(timezone),
  },
  {
    code: 'locale_unknown',
    paths: ['locale'],
    message: 'locale is no BCP 47 tag, such as de-AT',
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
    message: 'pdf_page_ranges counts pages from 1, and the first of a range is not beyond its last, such as 1-3,5',
    holds: ({ pdfPageRanges }) => pdfPageRanges !== undefined && !isPageRanges(pdfPageRanges),
  },
  {
    code: 'fail_on_status_unknown',
    paths: ['failOnStatus'],
    message: 'fail_on_status has a range whose first status is beyond its last: swap them, as in 500-511',
    holds: ({ failOnStatus }) => failOnStatus !== undefined && !failOnStatus.every(isStatusRange),
  },
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
    message: 'job_timeout must not be below timeout and delay together: raise it, or lower them',
    rule: '!has(self.jobTimeout) || self.jobTimeout >= (has(self.timeout) ? self.timeout : 30000) + (has(self.delay) ? self.delay : 0)',
    holds: ({ jobTimeout, timeout = 30000, delay = 0 }) => jobTimeout !== undefined && jobTimeout < timeout + delay,
  },
]

/** The rules that the API server checks. */
export const contradictionRules: CelRule[] = contradictions.flatMap(({ rule, message }) => (rule === undefined ? [] : [{ rule, message }]))
