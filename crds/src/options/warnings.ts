import { toSnakeCase } from '../text/snake-case.ts'
import type { AllOptions } from './contradictions.ts'
import { pictureWarnings } from './picture-warnings.ts'
import type { Warning } from './warning.ts'

// Options that were chosen and change nothing, because of others. Nothing is refused for it; the record tells.

/** Every way. */
export const warnings: readonly Warning[] = [
  ...pictureWarnings,
  {
    option: 'headersScope',
    reason: 'without headers and authorization',
    isIdle: ({ headers, authorization }) => headers === undefined && authorization === undefined,
  },
  {
    option: 'referer',
    reason: 'on html and markdown, which nobody is asked for',
    isIdle: ({ html, markdown }) => Boolean(html ?? markdown),
  },
  {
    option: 'initScript',
    reason: 'without javascript_enabled, unlike scripts, which run after the page has loaded',
    isIdle: ({ javascriptEnabled }) => javascriptEnabled === false,
  },
  {
    option: 'geolocationAccuracy',
    reason: 'without geolocation_latitude',
    isIdle: ({ geolocationLatitude }) => geolocationLatitude === undefined,
  },
]

/** `image_quality has no effect on png`. */
export const toWarning = ({ option, reason }: Warning): string => `${toSnakeCase(option)} has no effect ${reason}`

/** Says of each option that was chosen and changes nothing why. */
export const findWarnings = (options: AllOptions): string[] =>
  warnings.filter((warning) => options[warning.option] !== undefined && warning.isIdle(options)).map(toWarning)
