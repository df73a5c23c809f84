// Pictures of schedules that no longer exist. The schedule controller removes them when it sees the deletion; this removes those of schedules
// that were deleted while no operator ran, or that moved to another account.

import { BASELINES_PREFIX, scheduleBaselinesPrefix } from '@tintype/crds/records/storage-keys'
import { PAGE } from '@tintype/crds/storage/port'
import type { Storage } from '../../storage/storage.ts'

export interface StrayBaselinesDeps {
  storage: Pick<Storage, 'listObjects' | 'remove'>
  /** Accounts and uids of all schedules. */
  schedules: () => readonly { account: string; uid: string }[]
  mayWrite: () => boolean
  now: () => Date
}

/** Open runs may still need a picture of a schedule that was just deleted. */
const MIN_AGE_MILLISECONDS = 3_600_000

/** Deletes pictures of schedules that do not exist. Returns their number. @throws RetryableError */
export async function removeStrayBaselines({ storage, schedules, mayWrite, now }: StrayBaselinesDeps): Promise<number> {
  const known = new Set(schedules().map(({ account, uid }) => scheduleBaselinesPrefix(account, uid)))
  const storedBefore = new Date(now().getTime() - MIN_AGE_MILLISECONDS)
  let count = 0
  for (let after: string | undefined; mayWrite(); ) {
    const found = await storage.listObjects(BASELINES_PREFIX, { after, limit: PAGE })
    const stray = found.filter(({ key, lastModified }) => !known.has(key.slice(0, key.lastIndexOf('/') + 1)) && lastModified < storedBefore)
    if (!mayWrite()) return count
    if (stray.length > 0) await storage.remove(stray.map(({ key }) => key))
    count += stray.length
    if (found.length < PAGE) return count
    after = found.at(-1)!.key
  }
  return count
}
