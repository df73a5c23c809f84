import { z } from 'zod'

// Options of a request that may be answered with an earlier picture. They are no part of CaptureOptions: the gateway reads them, and an object
// holds what came of them (spec.cacheAs, spec.cachedFrom).

/** Reuse of an earlier picture. */
export const cacheOptions = {
  cache: z
    .boolean()
    .describe(
      'Takes the picture of an earlier, equal request with cache if there is one: the record is completed at once and costs nothing. Default: false.',
    ),
  cacheTtl: z
    .int()
    .min(60)
    .max(2_592_000)
    .describe('Seconds that the earlier picture may be old, 60 to 2592000, beside the days that files are kept. Default: 86400.'),
  cacheKey: z
    .string()
    .max(250)
    .regex(/^[A-Za-z0-9_-]{1,250}$/)
    .describe('Keeps apart what is equal otherwise, 1 to 250 letters, digits, - and _. Default: none.'),
  cacheRefresh: z.boolean().describe('Captures the page anew all the same; later requests find that picture. Default: false.'),
}

export const CacheOptions = z.strictObject(cacheOptions).partial()
export type CacheOptions = z.infer<typeof CacheOptions>

export const cacheDefaults = { cache: false, cacheTtl: 86_400, cacheRefresh: false }

/** Names of these options, in camel case. */
export const cacheOptionNames: readonly string[] = Object.keys(cacheOptions)
