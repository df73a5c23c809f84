/** Milliseconds without a sign from the API server after which the copy of the keys may hold revoked ones (bookmarks come once a minute). */
export const STALE_MILLISECONDS = 120_000

interface Copy {
  name: string
  hasSynced: boolean
  /** Epoch milliseconds. */
  lastSeenAt: number
}

interface ReadinessFacts {
  isDraining: boolean
  hasDownloadKeys: boolean
  hasSealingKey: boolean
  copies: readonly Copy[]
  nowMilliseconds: number
}

/**
 * Why a replica should get no requests. A replica that is cut off alone from the API server leaves the service; when the API server
 * itself is down nobody can take replicas out, and all of them go on answering reads.
 */
export function findUnreadyReasons({ isDraining, hasDownloadKeys, hasSealingKey, copies, nowMilliseconds }: ReadinessFacts): string[] {
  return [
    ...(isDraining ? ['the process is ending'] : []),
    ...(hasDownloadKeys ? [] : ['the download keys are not there']),
    ...(hasSealingKey ? [] : ['the sealing key is not there']),
    ...copies.filter(({ hasSynced }) => !hasSynced).map(({ name }) => `${name}: not listed yet`),
    ...copies
      .filter(({ hasSynced, lastSeenAt }) => hasSynced && nowMilliseconds - lastSeenAt > STALE_MILLISECONDS)
      .map(({ name }) => `${name}: no sign from the API server`),
  ]
}
