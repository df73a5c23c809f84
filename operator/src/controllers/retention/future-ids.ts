// A wrong clock or another writer can give an id a future time. Its keys sort before all others of their account, where no cutoff reaches them, and readers ignore them. They expire by the time at which the store received the object. A wrong
// clock of the operator cannot delete recent files: if it is behind, ids seem to be in the future, but the cutoff is behind by the same
// amount.

import { MAX_CLOCK_DIFFERENCE_MILLISECONDS, newId } from '@tintype/crds/identifiers/ids'
import type { StoredKind } from '@tintype/crds/records/folders'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import {
  invertedDay,
  isDay,
  isFarDay,
  objectsPrefix,
  parseObjectKey,
  recordsPrefix,
  rewritesPrefix,
} from '@tintype/crds/records/storage-keys'
import { listObjectPages } from '@tintype/crds/storage/stored-objects'
import type { Storage } from '../../storage/storage.ts'

export interface FutureIdsDeps {
  storage: Pick<Storage, 'listObjects' | 'remove'>
  /** Called for keys that Tintype does not write. They are left unchanged. */
  report: ReportIgnored
  mayContinue: () => boolean
  now: () => Date
}

/** Page size of the first list: few accounts have ids in the future. */
const FIRST_KEYS = 10
/** Sorts before every id of the same instant. */
const FIRST_TAIL = Buffer.alloc(10)

/** Deletes files of an account with ids in the future that were stored before an instant. Returns their number. */
export function removeFutureFiles(account: string, storedBefore: Date, deps: FutureIdsDeps): Promise<number> {
  const prefix = objectsPrefix(account)
  const isFile = (key: string) => parseObjectKey(key)?.account === account
  const end = prefix + newId('scr', latest(deps), FIRST_TAIL)
  return removeStoredBefore({ kind: 'file', prefix, after: `${prefix}scr_`, end, storedBefore, isOurs: isFile }, deps)
}

/**
 * Deletes records of an account with dates in the future, and their rewrite marks, if stored before an instant. Returns the number of
 * objects.
 */
export async function removeFutureRecords(account: string, storedBefore: Date, deps: FutureIdsDeps): Promise<number> {
  const removeDays = (kind: StoredKind, prefix: string) => {
    const end = `${prefix}${invertedDay(latest(deps))}/`
    return removeStoredBefore({ kind, prefix, end, storedBefore, isOurs: (key) => isInDay(key.slice(prefix.length)) }, deps)
  }
  const records = await removeDays('record', recordsPrefix(account))
  return records + (await removeDays('rewrite', rewritesPrefix(account)))
}

/** The latest time that a valid id may contain now. */
const latest = ({ now }: Pick<FutureIdsDeps, 'now'>): Date => new Date(now().getTime() + MAX_CLOCK_DIFFERENCE_MILLISECONDS)

function isInDay(path: string): boolean {
  const [day = '', rest] = path.split('/', 2)
  return rest !== undefined && (isDay(day) || isFarDay(day))
}

/** A range of keys and the conditions for deleting them. */
interface KeyRange {
  kind: StoredKind
  prefix: string
  after?: string | undefined
  end: string
  storedBefore: Date
  isOurs: (key: string) => boolean
}

async function removeStoredBefore({ kind, prefix, end, storedBefore, isOurs, after }: KeyRange, deps: FutureIdsDeps): Promise<number> {
  const { storage, mayContinue, report } = deps
  let count = 0
  for await (const found of listObjectPages(prefix, storage, { after, first: FIRST_KEYS })) {
    const within = found.filter(({ key }) => key < end)
    for (const { key } of within) if (!isOurs(key)) report({ kind, reason: 'key', key })
    const due = within.filter(({ key, lastModified }) => isOurs(key) && lastModified < storedBefore)
    if (!mayContinue()) break
    if (due.length > 0) await storage.remove(due.map(({ key }) => key))
    count += due.length
    if (within.length < found.length) break
  }
  return count
}
