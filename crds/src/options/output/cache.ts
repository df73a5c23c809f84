import { z } from 'zod'
import { defaultsOf, flag, formed, group, integer, type OptionRules } from '../rules/declare.ts'

// Options to reuse an earlier picture. They are not part of CaptureOptions: the gateway reads them, and the object stores
// only the result (spec.cacheAs, spec.cachedFrom).

const HEADING = ['Cache', 'REST API only. A Screenshot that you create with kubectl is always captured.'] as const
const RULES: OptionRules = { links: 'no', picture: 'no' }

/** Cache options. */
export const cacheGroup = group(HEADING, RULES, {
  cache: flag({ default: false, links: { except: false } })(
    'Reuses the picture of an earlier equal request with cache, if there is one. The record is then completed immediately and is not charged.',
  ),
  cacheTtl: integer(60, 2_592_000, { default: 86_400, links: 'yes' })(
    'Maximum age of the reused picture in seconds. The retention of files applies too.',
  ),
  cacheKey: formed(250, /^[A-Za-z0-9_-]{1,250}$/, { links: 'yes', picture: 'separate', example: 'november' })(
    'Separate cache for otherwise equal requests, 1 to 250 letters, digits, - and _.',
  ),
  cacheRefresh: flag({ default: false, links: { except: true } })('Captures the page again and replaces the cached picture.'),
})

export const cacheDefaults = defaultsOf(cacheGroup.options)

export const CacheOptions = z.strictObject(cacheGroup.options).partial()
export type CacheOptions = z.infer<typeof CacheOptions>

/** Names of these options, in camel case. */
export const cacheOptionNames: readonly string[] = Object.keys(cacheGroup.options)
