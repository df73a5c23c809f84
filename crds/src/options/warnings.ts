import { toSnakeCase } from '../text/snake-case.ts'
import type { AllOptions } from './contradiction.ts'
import { hasFormats, isLocale } from './page/place.ts'
import { pictureWarnings } from './picture-warnings.ts'
import type { Warning } from './warning.ts'

// Options that are set but have no effect, because of other options. The request is accepted, and the record lists them in `warnings`.

/** Every combination with a warning. */
export const warnings: readonly Warning[] = [
  ...pictureWarnings,
  {
    option: 'headersScope',
    reason: 'without headers and authorization',
    hasNoEffect: ({ headers, authorization }) => headers === undefined && authorization === undefined,
  },
  {
    option: 'referer',
    reason: 'on html and markdown, which are not requested from a server',
    hasNoEffect: ({ html, markdown }) => Boolean(html ?? markdown),
  },
  ...(['headers', 'authorization', 'basicAuthUsername'] as const).map((option) => ({
    option,
    reason: `on html and markdown without html_base_url${option === 'basicAuthUsername' ? '' : ', unless headers_scope is all'}`,
    hasNoEffect: ({ html, markdown, htmlBaseUrl, headersScope }: AllOptions) =>
      Boolean(html ?? markdown) && htmlBaseUrl === undefined && (headersScope !== 'all' || option === 'basicAuthUsername'),
  })),
  {
    option: 'initScript',
    reason: 'if javascript_enabled is false; use scripts, which run after the page has loaded',
    hasNoEffect: ({ javascriptEnabled }) => javascriptEnabled === false,
  },
  {
    option: 'locale',
    reason: 'on formats if the browser knows no language with this tag',
    hasNoEffect: ({ locale = '' }) => isLocale(locale) && !hasFormats(locale),
  },
  {
    option: 'geolocationAccuracy',
    reason: 'without geolocation_latitude',
    hasNoEffect: ({ geolocationLatitude }) => geolocationLatitude === undefined,
  },
]

/** `image_quality has no effect on png`. */
export const toWarning = ({ option, reason }: Warning): string => `${toSnakeCase(option)} has no effect ${reason}`

/** Returns a warning for each option that is set but has no effect. */
export const findWarnings = (options: AllOptions): string[] =>
  warnings.filter((warning) => options[warning.option] !== undefined && warning.hasNoEffect(options)).map(toWarning)
