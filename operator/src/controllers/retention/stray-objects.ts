// Pictures and options of schedules that no longer exist. The schedule controller removes them when it sees the deletion; this removes those
// of schedules that were deleted while no operator ran, or that moved to another account, and options of creations that failed.

import { type FolderName, prefixOf } from '@tintype/crds/records/folders'
import { scheduleBaselinesPrefix, scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import { listObjectPages } from '@tintype/crds/storage/stored-objects'
import type { Storage } from '../../storage/storage.ts'

export interface StrayObjectsDeps {
  storage: Pick<Storage, 'listObjects' | 'remove'>
  /** All schedules. */
  schedules: () => readonly { account: string; uid: string; name: string }[]
  /** Keys of the options of runs that have not ended. */
  optionsOfRuns: () => readonly string[]
  mayContinue: () => boolean
  now: () => Date
}

/** Open runs may still need a picture of a schedule that was just deleted, and options are stored before their schedule. */
const MIN_AGE_MILLISECONDS = 3_600_000

/** Deletes objects of schedules that do not exist. Returns their number. @throws RetryableError */
export async function removeStrayObjects(folder: FolderName, deps: StrayObjectsDeps): Promise<number> {
  const { storage, mayContinue, now } = deps
  const storedBefore = new Date(now().getTime() - MIN_AGE_MILLISECONDS)
  const needed = neededKeys(deps)
  let count = 0
  for await (const found of listObjectPages(prefixOf(folder), storage)) {
    const stray = found.filter(({ key, lastModified }) => !needed.has(key) && !needed.has(folderOf(key)) && lastModified < storedBefore)
    if (!mayContinue()) break
    if (stray.length > 0) await storage.remove(stray.map(({ key }) => key))
    count += stray.length
  }
  return count
}

/** Prefixes of pictures, and keys of options. */
const neededKeys = ({ schedules, optionsOfRuns }: StrayObjectsDeps): ReadonlySet<string> =>
  new Set([
    ...schedules().flatMap(({ account, uid, name }) => [scheduleBaselinesPrefix(account, uid), scheduleOptionsKey(account, name)]),
    ...optionsOfRuns(),
  ])

const folderOf = (key: string): string => key.slice(0, key.lastIndexOf('/') + 1)
