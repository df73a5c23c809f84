// Screenshots with chosen names could once choose the time in their id as well. Keys with an id of the future precede all others of their account,
// where no cutoff reaches them, and readers ignore them. They expire by the time at which the store took the object. The operator's own clock
// cannot make this remove a young file: if it is behind, ids seem to be of the future, but the cutoff is as far behind.

import { MAX_CLOCK_DIFFERENCE_MILLISECONDS, newId } from '@tintype/crds/identifiers/ids'
import type { ReportIgnored, StoredKind } from '@tintype/crds/records/ignored-objects'
import { invertedDay, isDay, isFarDay, parseObjectKey, REWRITES_PREFIX, recordsPrefix } from '@tintype/crds/records/storage-keys'
import { PAGE } from '@tintype/crds/storage/port'
import type { Storage } from '../storage/storage.ts'

export interface FutureIdsDeps {
  storage: Pick<Storage, 'listObjects' | 'remove'>
  /** Told of keys that Tintype does not write. They are left as they are. */
  report: ReportIgnored
  mayWrite: () => boolean
  now: () => Date
}

/** Keys of the first list: hardly any account has ids of the future. */
const FIRST_KEYS = 10
/** Before every id of the same instant. */
const FIRST_TAIL = Buffer.alloc(10)

/** Removes files of an account that have ids of the future and were stored before an instant. Gives how many. */
export function removeFutureFiles(account: string, storedBefore: Date, deps: FutureIdsDeps): Promise<number> {
  const prefix = `users/${account}/`
  const isFile = (key: string) => parseObjectKey(key)?.account === account
  const end = prefix + newId('scr', latest(deps), FIRST_TAIL)
  return removeStoredBefore({ kind: 'file', prefix, after: `${prefix}scr_`, end, storedBefore, isOurs: isFile }, deps)
}

/** Removes what is kept of an account's days to come, and the marks to rewrite them, if stored before an instant. Gives how many objects. */
export async function removeFutureRecords(account: string, storedBefore: Date, deps: FutureIdsDeps): Promise<number> {
  const removeDays = (kind: StoredKind, prefix: string) => {
    const end = `${prefix}${invertedDay(latest(deps))}/`
    return removeStoredBefore({ kind, prefix, end, storedBefore, isOurs: (key) => isInDay(key.slice(prefix.length)) }, deps)
  }
  const records = await removeDays('record', recordsPrefix(account))
  return records + (await removeDays('rewrite', `${REWRITES_PREFIX}${account}/`))
}

/** The latest time that an id may carry now. */
const latest = ({ now }: Pick<FutureIdsDeps, 'now'>): Date => new Date(now().getTime() + MAX_CLOCK_DIFFERENCE_MILLISECONDS)

function isInDay(path: string): boolean {
  const [day = '', rest] = path.split('/', 2)
  return rest !== undefined && (isDay(day) || isFarDay(day))
}

/** Objects between two keys. */
interface KeyRange {
  kind: StoredKind
  prefix: string
  after?: string
  end: string
  storedBefore: Date
  isOurs: (key: string) => boolean
}

async function removeStoredBefore({ kind, prefix, end, storedBefore, isOurs, ...range }: KeyRange, deps: FutureIdsDeps): Promise<number> {
  const { storage, mayWrite, report } = deps
  let count = 0
  for (let after = range.after, limit = FIRST_KEYS; mayWrite(); limit = PAGE) {
    const found = await storage.listObjects(prefix, { after, limit })
    const within = found.filter(({ key }) => key < end)
    for (const { key } of within) if (!isOurs(key)) report({ kind, reason: 'key', key })
    const due = within.filter(({ key, lastModified }) => isOurs(key) && lastModified < storedBefore)
    if (!mayWrite()) return count
    if (due.length > 0) await storage.remove(due.map(({ key }) => key))
    count += due.length
    if (found.length < limit || within.length < found.length) return count
    after = found.at(-1)!.key
  }
  return count
}
