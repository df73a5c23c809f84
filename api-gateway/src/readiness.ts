/** A cache counts as stale after this time without an event. Bookmarks come once a minute. */
export const STALE_MILLISECONDS = 120_000
/**
 * The same for caches that authenticate requests, because they may contain revoked keys. Their watches are reopened after 30 s of silence, which
 * counts as an event. Bookmarks would be too rare.
 */
export const AUTH_STALE_MILLISECONDS = 60_000

interface InformerCache {
  name: string
  hasSynced: boolean
  /** Epoch milliseconds. */
  lastSeenAt: number
  /** True for caches that authenticate requests. */
  isForAuthentication: boolean
}

interface ReadinessFacts {
  isDraining: boolean
  hasDownloadKeys: boolean
  hasSealingKey: boolean
  /** True when object storage has accepted the access key, or after the wait for that has ended. */
  isAdmitted: boolean
  caches: readonly InformerCache[]
  nowMilliseconds: number
}

/**
 * Why a replica is not ready. A replica that alone loses its connection to the API server is removed from the Service. When the API server itself
 * is down, endpoints do not change, and all replicas continue to serve reads.
 */
export function findUnreadyReasons(facts: ReadinessFacts): string[] {
  const isStale = ({ lastSeenAt, isForAuthentication }: InformerCache): boolean =>
    facts.nowMilliseconds - lastSeenAt > (isForAuthentication ? AUTH_STALE_MILLISECONDS : STALE_MILLISECONDS)
  const [synced, unsynced] = [facts.caches.filter(({ hasSynced }) => hasSynced), facts.caches.filter(({ hasSynced }) => !hasSynced)]
  return [
    ...(facts.isDraining ? ['shutting down'] : []),
    ...(facts.hasDownloadKeys ? [] : ['download keys not loaded']),
    ...(facts.hasSealingKey ? [] : ['sealing key not loaded']),
    ...(facts.isAdmitted ? [] : ['object storage has not accepted the access key yet']),
    ...unsynced.map(({ name }) => `cache not synced: ${name}`),
    ...synced.filter(isStale).map(({ name }) => `cache stale: ${name}`),
  ]
}
