// Headers with which browsers and CDNs cache the response to a link.

export interface CachedResponse {
  /** Time of the capture. */
  capturedAt: Date
  /** Seconds for which the picture is fresh. */
  ttlSeconds: number
  /** Time at which the link stops working. */
  expires?: Date | undefined
  now: Date
}

/** Caches may serve a stale picture for as long while they fetch a new one. */
const STALE_SECONDS = 86_400

const secondsBetween = (from: Date, to: Date): number => Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1_000))

/**
 * Headers of a public response. `max-age` counts from the capture, because caches subtract `Age`. No cache serves the picture after `expires`, not
 * even nginx, which ignores `Age` and counts `max-age` from the response.
 */
export function toCacheHeaders({ capturedAt, ttlSeconds, expires, now }: CachedResponse): Record<string, string> {
  const age = secondsBetween(capturedAt, now)
  const left = expires === undefined ? Number.POSITIVE_INFINITY : secondsBetween(now, expires)
  const maxAge = Math.min(ttlSeconds, left)
  // A cache may serve a stale picture for max-age + stale-while-revalidate.
  const stale = Math.min(STALE_SECONDS, left - maxAge)
  return { 'cache-control': `public, max-age=${maxAge}, stale-while-revalidate=${stale}`, age: String(age) }
}
