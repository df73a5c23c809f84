// Deletes expired data: files after their plan's retention, records after theirs, and all data of deleted accounts. Keys sort by time,
// newest first, so expired data is at the end of a list, and data dated in the future at its beginning (future-ids.ts). Nothing else is
// read. An interrupted expiry continues where it stopped, because deleted keys are not listed again.

import type { Log } from '@tintype/crds/client/log'
import { isSignedMarker, keptUntil } from '@tintype/crds/crypto/signatures'
import { createdAtOf, newId } from '@tintype/crds/identifiers/ids'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { type Folder, type FolderName, folders, type PartsOf, prefixOf } from '@tintype/crds/records/folders'
import { parseKeys } from '@tintype/crds/records/ignored-objects'
import {
  expiryKey,
  invertedDay,
  isAccountName,
  isDay,
  objectKeyPrefix,
  objectsPrefix,
  parseObjectKey,
  recordsPrefix,
  scheduleBaselinesPrefix,
  scheduleOptionsKey,
} from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { type MarkChecks, readArchivedRecord } from '@tintype/crds/storage/archive'
import { listObjectPages, listPages, readStored } from '@tintype/crds/storage/stored-objects'
import { findPlan, longestRetention, type Plans } from '@tintype/crds/usage/plans'
import type { Storage } from '../../storage/storage.ts'
import type { DeletedAccounts } from './deleted-accounts.ts'
import { removeFutureFiles, removeFutureRecords } from './future-ids.ts'

export interface ExpireDeps extends MarkChecks, StrayObjectsDeps {
  storage: Pick<Storage, 'list' | 'listObjects' | 'remove' | 'readText'>
  findAccount: (name: string) => Account | undefined
  /** Reads from the API server: the cache may be stale, and a deletion cannot be undone. */
  isAccountGone: (name: string) => Promise<boolean>
  /** A Screenshot that is still in the Kubernetes API. */
  findLive: (account: string, id: string) => Screenshot | undefined
  gone: DeletedAccounts
  plans: Plans
  /** Days that records are kept on plans without their own setting. */
  recordDays: number
  /** False once the signal is aborted or this operator loses leadership. */
  mayContinue: () => boolean
  now: () => Date
  log: Log
}

const DAY_MILLISECONDS = 86_400_000
/** Marks that are read concurrently. */
const CONCURRENT_READS = 16
/** Folders whose listing finds accounts that have data. */
const WITH_OWNERS = ['users', 'records'] as const
/** Reversed, so that what finds the account is deleted last. */
const ACCOUNT_PREFIXES = folders.flatMap(({ deletion }) => deletion.accounts).reverse()
/** Sorts after every id of the same instant. */
const LAST_TAIL = Buffer.alloc(10, 0xff)

/** How objects of a folder expire. `deleted` are accounts whose data was deleted before. */
type Expire = (folder: FolderName, deleted: ReadonlySet<string>, deps: ExpireDeps) => Promise<void>

const EXPIRE: Readonly<Record<Folder['deletion']['expiry'], Expire>> = {
  files: expireFiles,
  records: expireRecords,
  marks: removeMarked,
  schedules: removeStrays,
  none: async () => undefined,
}

/** Deletes what has expired in all folders. In the table, marks follow files and records: a mark that cannot be processed must not block other expiry. */
export async function expire(deps: ExpireDeps): Promise<void> {
  const deleted = await removeDeletedAccounts(deps)
  for (const { name, deletion } of folders) await EXPIRE[deletion.expiry](name, deleted, deps)
}

async function expireFiles(folder: FolderName, deleted: ReadonlySet<string>, deps: ExpireDeps): Promise<void> {
  for await (const account of namesIn(prefixOf(folder), undefined, deps)) {
    if (deleted.has(account)) continue
    const cutoff = daysAgo(retentionDaysOf(account, deps), deps)
    const prefix = objectsPrefix(account)
    const count = await removeAfter(prefix, prefix + newId('scr', cutoff, LAST_TAIL), deps, isFileOf(account, deps))
    if (count > 0) deps.log.info({ account, files: count }, 'files expired')
    const future = await removeFutureFiles(account, cutoff, deps)
    if (future > 0) deps.log.info({ account, files: future }, 'files dated in the future expired')
  }
}

async function expireRecords(folder: FolderName, deleted: ReadonlySet<string>, deps: ExpireDeps): Promise<void> {
  for await (const account of namesIn(prefixOf(folder), undefined, deps)) {
    if (deleted.has(account)) continue
    const prefix = recordsPrefix(account)
    // A day is deleted when all its records are old enough.
    const cutoff = daysAgo(recordDaysOf(account, deps), deps)
    const lastKept = `${prefix}${invertedDay(cutoff)}~`
    for await (const day of namesIn(prefix, lastKept, deps, isDay)) {
      const count = await removeAfter(`${prefix}${day}/`, undefined, deps)
      deps.log.info({ account, day, objects: count }, 'records expired')
    }
    const future = await removeFutureRecords(account, cutoff, deps)
    if (future > 0) deps.log.info({ account, objects: future }, 'records dated in the future expired')
  }
}

/**
 * Deletes all data of accounts past their grace period, the mark last, so that an interrupted deletion is resumed. Returns the accounts.
 */
async function removeDeletedAccounts(deps: ExpireDeps): Promise<Set<string>> {
  const { gone, findAccount, mayContinue, log } = deps
  const marked = await gone.marked()
  const candidates = new Set(marked)
  for (const folder of WITH_OWNERS) for await (const account of namesIn(prefixOf(folder), undefined, deps)) candidates.add(account)
  const removed = new Set<string>()
  for (const account of candidates) {
    if (!mayContinue()) break
    const exists = findAccount(account) !== undefined
    if (exists && marked.has(account)) await gone.forget(account)
    if (exists || !(await gone.isPastGrace(account)) || !(await deps.isAccountGone(account))) continue
    removed.add(account)
    const objects = await gone.removeObjects(account, mayContinue)
    let files = 0
    for (const prefix of ACCOUNT_PREFIXES) files += await removeAfter(`${prefix}${account}/`, undefined, deps)
    log.info({ account, objects, files }, 'data of deleted account removed')
    // Deleting Screenshots creates more objects later, so the mark stays until a round finds nothing.
    if (objects + files === 0 && mayContinue()) await gone.forget(account)
  }
  return removed
}

async function removeStrays(folder: FolderName, _deleted: ReadonlySet<string>, deps: ExpireDeps): Promise<void> {
  const objects = await removeStrayObjects(folder, deps)
  if (objects > 0) deps.log.info({ folder, objects }, 'objects of deleted schedules removed')
}

/** Deletes files whose request set a shorter retention. Each mark is deleted after its files. */
async function removeMarked(folder: FolderName, _deleted: ReadonlySet<string>, deps: ExpireDeps): Promise<void> {
  const { storage, mayContinue, now, report } = deps
  for await (const keys of listPages(prefixOf(folder), storage)) {
    if (!mayContinue()) return
    const marks = parseKeys('expiry', keys, report)
    const due = marks.filter(({ at }) => at <= now())
    await mapConcurrently(due, CONCURRENT_READS, (mark) => removeAsMarked(mark, deps))
    if (due.length < marks.length) return
  }
}

type ExpiryMark = PartsOf<'expiry'>

/** A mark alone deletes nothing: see {@link isConfirmed}. A mark without files is removed. */
async function removeAsMarked(mark: ExpiryMark, deps: ExpireDeps): Promise<void> {
  const { account, id, at } = mark
  const key = expiryKey(account, id, at)
  const { storage, mayContinue, log, report } = deps
  const prefix = objectKeyPrefix(account, id)
  const hasFiles = (await storage.list(prefix, { limit: 1 })).length > 0
  if (hasFiles && !(await isConfirmed(mark, deps))) return report({ kind: 'expiry', reason: 'unconfirmed', key })
  if (!mayContinue()) return
  const count = hasFiles ? await removeAfter(prefix, undefined, deps) : 0
  await storage.remove([key])
  if (count > 0) log.debug({ account, files: count }, 'files with their own retention expired')
}

/**
 * The record must confirm that its files have expired. When records are kept for a shorter time than files, the signature of the mark
 * confirms it.
 */
async function isConfirmed({ account, id, at }: ExpiryMark, deps: ExpireDeps): Promise<boolean> {
  const { now, ring, findLive } = deps
  const record = findLive(account, id) ?? (await readArchivedRecord(account, id, deps))
  if (record) {
    const { spec, status } = record
    return status?.phase === 'Completed' && spec.retentionDays !== undefined && keptUntil(createdAtOf(id), spec.retentionDays) <= now()
  }
  const key = expiryKey(account, id, at)
  const text = await readStored('expiry', key, deps)
  return text !== undefined && isSignedMarker(key, text, ring)
}

const daysAgo = (days: number, { now }: Pick<ExpireDeps, 'now'>): Date => new Date(Math.max(0, now().getTime() - days * DAY_MILLISECONDS))

/** The plan of an account; undefined for unknown accounts and unknown plans. */
const planOf = (name: string, { findAccount, plans }: ExpireDeps) => {
  const account = findAccount(name)
  return account && findPlan(plans, account.spec.plan)
}

/** Retention of files; without a known plan the longest of all plans. */
const retentionDaysOf = (name: string, deps: ExpireDeps): number => planOf(name, deps)?.retentionDays ?? longestRetention(deps.plans)

/** Retention of records; without a known plan the longest of all plans. */
function recordDaysOf(name: string, deps: ExpireDeps): number {
  const { plans, recordDays } = deps
  const known = planOf(name, deps)
  if (known) return known.recordDays ?? recordDays
  return Math.max(...Object.values(plans).map((plan) => plan.recordDays ?? recordDays))
}

/** Names of the folders directly under a prefix: accounts by default. Folders with other names are reported and left unchanged. */
async function* namesIn(prefix: string, after: string | undefined, deps: ExpireDeps, isName = isAccountName): AsyncGenerator<string> {
  const { storage, mayContinue, report } = deps
  const kind = prefix === prefixOf('users') ? 'file' : 'record'
  for await (const found of listPages(prefix, storage, { after, folders: true })) {
    for (const folder of found) {
      if (!mayContinue()) return
      const name = folder.slice(prefix.length, -1)
      if (folder.endsWith('/') && isName(name)) yield name
      else report({ kind, reason: 'key', key: folder })
    }
  }
}

/** True for keys of an account's files. Other keys contain no time and are left to the bucket's lifecycle rules. */
const isFileOf =
  (account: string, { report }: Pick<ExpireDeps, 'report'>) =>
  (key: string): boolean => {
    const isFile = parseObjectKey(key)?.account === account
    if (!isFile) report({ kind: 'file', reason: 'key', key })
    return isFile
  }

/** Deletes the keys under a prefix that sort after `after`. Returns their number. */
async function removeAfter(
  prefix: string,
  after: string | undefined,
  { storage, mayContinue }: ExpireDeps,
  isWanted: (key: string) => boolean = () => true,
): Promise<number> {
  let count = 0
  for await (const keys of listPages(prefix, storage, { after })) {
    const wanted = keys.filter(isWanted)
    if (!mayContinue()) break
    if (wanted.length > 0) await storage.remove(wanted)
    count += wanted.length
  }
  return count
}

// Pictures and options of schedules that no longer exist. The schedule controller removes them when it sees the deletion; this removes those
// of schedules that were deleted while no operator ran, or that moved to another account, and options of creations that failed.

interface StrayObjectsDeps {
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
