/** Milliseconds without a sign from the API server after which a copy counts as stale: bookmarks come once a minute. */
export const STALE_MILLISECONDS = 120_000
/**
 * The same for the copies that decide who is let in, which may hold what has been revoked since. Bookmarks could not bound
 * it: the watches behind these copies are opened anew after 30 s of silence, and that counts as a sign.
 */
export const AUTH_STALE_MILLISECONDS = 60_000

interface InformerCache {
  name: string
  hasSynced: boolean
  /** Epoch milliseconds. */
  lastSeenAt: number
  /** It decides who is let in. */
  isForAuthentication: boolean
}

interface ReadinessFacts {
  isDraining: boolean
  hasDownloadKeys: boolean
  hasSealingKey: boolean
  /** The store knows our key, or nobody waits for that any longer. */
  isAdmitted: boolean
  caches: readonly InformerCache[]
  nowMilliseconds: number
}

/**
 * Why a replica should get no requests. A replica that is cut off alone from the API server leaves the service; when the API server
 * itself is down nobody can take replicas out, and all of them go on answering reads.
 */
export function findUnreadyReasons({
  isDraining,
  hasDownloadKeys,
  hasSealingKey,
  isAdmitted,
  caches,
  nowMilliseconds,
}: ReadinessFacts): string[] {
  return [
    ...(isDraining ? ['the process is ending'] : []),
    ...(hasDownloadKeys ? [] : ['the download keys are not there']),
    ...(hasSealingKey ? [] : ['the sealing key is not there']),
    ...(isAdmitted ? [] : ['object storage has not accepted the access key yet']),
    ...caches.filter(({ hasSynced }) => !hasSynced).map(({ name }) => `${name}: not listed yet`),
    ...caches
      .filter(
        (cache) =>
          cache.hasSynced &&
          nowMilliseconds - cache.lastSeenAt > (cache.isForAuthentication ? AUTH_STALE_MILLISECONDS : STALE_MILLISECONDS),
      )
      .map(({ name }) => `${name}: no sign from the API server`),
  ]
}
