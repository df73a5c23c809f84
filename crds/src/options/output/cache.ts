import { z } from 'zod'
import { option } from '../rules/option-rules.ts'

// Options to reuse an earlier picture. They are not part of CaptureOptions: the gateway reads them, and the object stores
// only the result (spec.cacheAs, spec.cachedFrom).

/** Cache options. */
export const cacheOptions = {
  cache: option(
    { links: { except: false }, picture: 'no' },
    z
      .boolean()
      .describe(
        'Reuses the picture of an earlier equal request with cache, if there is one. The record is then completed immediately and is not charged. Default: false.',
      ),
  ),
  cacheTtl: option(
    { links: 'yes', picture: 'no' },
    z
      .int()
      .min(60)
      .max(2_592_000)
      .describe('Maximum age of the reused picture in seconds, 60 to 2592000. The retention of files applies too. Default: 86400.'),
  ),
  cacheKey: option(
    { links: 'yes', picture: 'separate' },
    z
      .string()
      .max(250)
      .regex(/^[A-Za-z0-9_-]{1,250}$/)
      .describe('Separate cache for otherwise equal requests, 1 to 250 letters, digits, - and _. Default: none.'),
  ),
  cacheRefresh: option(
    { links: { except: true }, picture: 'no' },
    z.boolean().describe('Captures the page again and replaces the cached picture. Default: false.'),
  ),
}

export const CacheOptions = z.strictObject(cacheOptions).partial()
export type CacheOptions = z.infer<typeof CacheOptions>

export const cacheDefaults = { cache: false, cacheTtl: 86_400, cacheRefresh: false }

/** Names of these options, in camel case. */
export const cacheOptionNames: readonly string[] = Object.keys(cacheOptions)
