// Pictures and options of schedules that no longer exist. The schedule controller removes them when it sees the deletion; this removes those
// of schedules that were deleted while no operator ran, or that moved to another account, and options of creations that failed.

import { BASELINES_PREFIX, SCHEDULES_PREFIX, scheduleBaselinesPrefix, scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import { PAGE } from '@tintype/crds/storage/port'
import type { Storage } from '../../storage/storage.ts'

export interface StrayObjectsDeps {
  storage: Pick<Storage, 'listObjects' | 'remove'>
  /** All schedules. */
  schedules: () => readonly { account: string; uid: string; name: string }[]
  /** Keys of the options of runs that have not ended. */
  optionsOfRuns: () => readonly string[]
  mayWrite: () => boolean
  now: () => Date
}

/** Open runs may still need a picture of a schedule that was just deleted, and options are stored before their schedule. */
const MIN_AGE_MILLISECONDS = 3_600_000

/** Deletes objects of schedules that do not exist. Returns their number. @throws RetryableError */
export async function removeStrayObjects(deps: StrayObjectsDeps): Promise<number> {
  const schedules = deps.schedules()
  const folders = new Set(schedules.map(({ account, uid }) => scheduleBaselinesPrefix(account, uid)))
  const options = new Set([...schedules.map(({ account, name }) => scheduleOptionsKey(account, name)), ...deps.optionsOfRuns()])
  const pictures = await removeUnless((key) => folders.has(key.slice(0, key.lastIndexOf('/') + 1)), BASELINES_PREFIX, deps)
  return pictures + (await removeUnless((key) => options.has(key), SCHEDULES_PREFIX, deps))
}

async function removeUnless(
  isKnown: (key: string) => boolean,
  prefix: string,
  { storage, mayWrite, now }: StrayObjectsDeps,
): Promise<number> {
  const storedBefore = new Date(now().getTime() - MIN_AGE_MILLISECONDS)
  let count = 0
  for (let after: string | undefined; mayWrite(); ) {
    const found = await storage.listObjects(prefix, { after, limit: PAGE })
    const stray = found.filter(({ key, lastModified }) => !isKnown(key) && lastModified < storedBefore)
    if (!mayWrite()) return count
    if (stray.length > 0) await storage.remove(stray.map(({ key }) => key))
    count += stray.length
    if (found.length < PAGE) return count
    after = found.at(-1)!.key
  }
  return count
}
