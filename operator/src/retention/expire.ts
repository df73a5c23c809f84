// What is kept no longer: files after their plan's days, records after theirs, and all of accounts that are gone. Keys are in the order of
// time, newest first, so what is due is the end of a list. What is dated in the future is its beginning (future-ids.ts). Nothing else is looked
// at. What was removed is not found again: a sweep that was interrupted goes on where it ended.

import type { Log } from '@tintype/crds/client/log'
import { keptUntil } from '@tintype/crds/crypto/download-link'
import { isSignedMarker, MAX_MARKER_BYTES } from '@tintype/crds/crypto/signed-markers'
import { createdAtOf, newId } from '@tintype/crds/identifiers/ids'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import {
  EXPIRIES_PREFIX,
  invertedDay,
  isAccountName,
  isDay,
  objectKeyPrefix,
  parseExpiryKey,
  parseObjectKey,
  REWRITES_PREFIX,
  recordsPrefix,
} from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/map-concurrently'
import { unlessTooLarge } from '@tintype/crds/storage/checked-read'
import { PAGE } from '@tintype/crds/storage/port'
import type { Plans } from '@tintype/crds/usage/plans'
import { findArchived } from '../storage/find-archived.ts'
import type { Storage } from '../storage/storage.ts'
import type { DeletedAccounts } from './deleted-accounts.ts'
import { removeFutureFiles, removeFutureRecords } from './future-ids.ts'
import type { MarkChecks } from './marks.ts'

export interface ExpireDeps extends MarkChecks {
  storage: Pick<Storage, 'list' | 'listObjects' | 'remove' | 'readText'>
  findAccount: (name: string) => Account | undefined
  /** Asks the API server: the local cache may be behind, and a deletion cannot be taken back. */
  isAccountGone: (name: string) => Promise<boolean>
  /** A Screenshot that is still in the Kubernetes API. */
  findLive: (account: string, id: string) => Screenshot | undefined
  gone: DeletedAccounts
  plans: Plans
  /** Days that records are kept on plans that do not say. */
  recordDays: number
  /** False once the signal has ended or this operator leads no more. */
  mayWrite: () => boolean
  now: () => Date
  log: Log
}

const DAY_MILLISECONDS = 86_400_000
const USERS = 'users/'
const RECORDS = 'records/'
/** Marks that are looked into at a time. */
const READERS = 16
/** Where something of an account is kept, by its name. */
const PLACES = [USERS, 'options/', 'cache/', 'batches/', 'deliveries/', 'idempotency/', REWRITES_PREFIX, RECORDS]
/** Beyond every id of the same instant. */
const LAST_TAIL = Buffer.alloc(10, 0xff)

/** One sweep over all accounts that have something in the bucket. */
export async function expire(deps: ExpireDeps): Promise<void> {
  const gone = await removeGone(deps)
  for await (const account of folders(USERS, undefined, deps)) {
    if (gone.has(account)) continue
    const cutoff = daysAgo(retentionDaysOf(account, deps), deps)
    const prefix = `${USERS}${account}/`
    const count = await removeAfter(prefix, prefix + newId('scr', cutoff, LAST_TAIL), deps, isFileOf(account, deps))
    if (count > 0) deps.log.info({ account, files: count }, 'files expired')
    const future = await removeFutureFiles(account, cutoff, deps)
    if (future > 0) deps.log.info({ account, files: future }, 'files dated in the future expired')
  }
  for await (const account of folders(RECORDS, undefined, deps)) {
    if (gone.has(account)) continue
    const prefix = recordsPrefix(account)
    // A day goes when all of it is old enough.
    const cutoff = daysAgo(recordDaysOf(account, deps), deps)
    const lastKept = `${prefix}${invertedDay(cutoff)}~`
    for await (const day of folders(prefix, lastKept, deps, isDay)) {
      const count = await removeAfter(`${prefix}${day}/`, undefined, deps)
      deps.log.info({ account, day, objects: count }, 'records expired')
    }
    const future = await removeFutureRecords(account, cutoff, deps)
    if (future > 0) deps.log.info({ account, objects: future }, 'records dated in the future expired')
  }
  // Last: a mark that cannot be carried out must not keep anything else from expiring.
  await removeMarked(deps)
}

/** Everything of accounts that are gone for long, the mark last: by it an interrupted removal is found again. Gives the accounts. */
async function removeGone(deps: ExpireDeps): Promise<Set<string>> {
  const { gone, findAccount, mayWrite, log } = deps
  const marked = await gone.marked()
  const candidates = new Set(marked)
  for (const place of [USERS, RECORDS]) for await (const account of folders(place, undefined, deps)) candidates.add(account)
  const removed = new Set<string>()
  for (const account of candidates) {
    if (!mayWrite()) break
    const exists = findAccount(account) !== undefined
    if (exists && marked.has(account)) await gone.forget(account)
    if (exists || !(await gone.isPastGrace(account)) || !(await deps.isAccountGone(account))) continue
    removed.add(account)
    const objects = await gone.removeObjects(account, mayWrite)
    let files = 0
    for (const place of PLACES) files += await removeAfter(`${place}${account}/`, undefined, deps)
    log.info({ account, objects, files }, 'the account is gone, and all that was kept of it')
    // What the end of a Screenshot leaves comes after it: the next round looks once more.
    if (objects + files === 0 && mayWrite()) await gone.forget(account)
  }
  return removed
}

/** Files that their own request wanted to go by now. Each mark goes after its files. */
async function removeMarked(deps: ExpireDeps): Promise<void> {
  const { storage, mayWrite, now, report } = deps
  for (let after: string | undefined; mayWrite(); ) {
    const keys = await storage.list(EXPIRIES_PREFIX, { after, limit: PAGE })
    const marks = keys.flatMap((key) => {
      const mark = parseExpiryKey(key)
      if (!mark) report({ kind: 'expiry', reason: 'key', key })
      return mark ? [{ key, ...mark }] : []
    })
    const due = marks.filter(({ at }) => at <= now())
    await mapConcurrently(due, READERS, (mark) => removeAsMarked(mark, deps))
    if (keys.length < PAGE || due.length < marks.length) return
    after = keys.at(-1)
  }
}

type ExpiryMark = { key: string } & NonNullable<ReturnType<typeof parseExpiryKey>>

/** A mark alone deletes nothing: see {@link isConfirmed}. One without files has nothing left to say. */
async function removeAsMarked(mark: ExpiryMark, deps: ExpireDeps): Promise<void> {
  const { key, account, id } = mark
  const { storage, mayWrite, log, report } = deps
  const prefix = objectKeyPrefix(account, id)
  const hasFiles = (await storage.list(prefix, { limit: 1 })).length > 0
  if (hasFiles && !(await isConfirmed(mark, deps))) return report({ kind: 'expiry', reason: 'unconfirmed', key })
  if (!mayWrite()) return
  const count = hasFiles ? await removeAfter(prefix, undefined, deps) : 0
  await storage.remove([key])
  if (count > 0) log.debug({ account, files: count }, 'files expired as their request said')
}

/** The record says that its files have had their time. Where it is kept no longer than its files, the signature of the mark stands for it. */
async function isConfirmed({ key, account, id }: ExpiryMark, deps: ExpireDeps): Promise<boolean> {
  const { storage, now, ring, report, findLive } = deps
  const record = findLive(account, id) ?? (await findArchived(account, id, deps))
  if (record) {
    const { spec, status } = record
    return status?.phase === 'Completed' && spec.retentionDays !== undefined && keptUntil(createdAtOf(id), spec.retentionDays) <= now()
  }
  const text = await unlessTooLarge('expiry', key, storage.readText(key, MAX_MARKER_BYTES), report)
  return text !== undefined && isSignedMarker(key, text, ring)
}

const daysAgo = (days: number, { now }: Pick<ExpireDeps, 'now'>): Date => new Date(Math.max(0, now().getTime() - days * DAY_MILLISECONDS))

/** Of an account that is not known, as long as any plan has. */
function retentionDaysOf(name: string, { findAccount, plans }: ExpireDeps): number {
  const account = findAccount(name)
  return account ? plans[account.spec.plan].retentionDays : Math.max(...Object.values(plans).map(({ retentionDays }) => retentionDays))
}

/** As {@link retentionDaysOf}. */
function recordDaysOf(name: string, { findAccount, plans, recordDays }: ExpireDeps): number {
  const account = findAccount(name)
  if (account) return plans[account.spec.plan].recordDays ?? recordDays
  return Math.max(...Object.values(plans).map((plan) => plan.recordDays ?? recordDays))
}

/** Names of the folders right under a prefix: accounts, unless others are asked for. What has no such name is left alone. */
async function* folders(prefix: string, from: string | undefined, deps: ExpireDeps, isName = isAccountName): AsyncGenerator<string> {
  const { storage, mayWrite, report } = deps
  const kind = prefix === USERS ? 'file' : 'record'
  for (let after = from; mayWrite(); ) {
    const found = await storage.list(prefix, { after, limit: PAGE, folders: true })
    for (const folder of found) {
      if (!mayWrite()) return
      const name = folder.slice(prefix.length, -1)
      if (folder.endsWith('/') && isName(name)) yield name
      else report({ kind, reason: 'key', key: folder })
    }
    if (found.length < PAGE) return
    const last = found.at(-1)!
    // Beyond all that is in it: some stores would list it once more.
    after = last.endsWith('/') ? `${last}~` : last
  }
}

/** True for keys of an account's files; others have no age, and are left to the bucket's own rules. */
const isFileOf =
  (account: string, { report }: Pick<ExpireDeps, 'report'>) =>
  (key: string): boolean => {
    const isFile = parseObjectKey(key)?.account === account
    if (!isFile) report({ kind: 'file', reason: 'key', key })
    return isFile
  }

/** Removes what is under a prefix beyond a key, and gives how much it was. */
async function removeAfter(
  prefix: string,
  from: string | undefined,
  { storage, mayWrite }: ExpireDeps,
  isWanted: (key: string) => boolean = () => true,
): Promise<number> {
  let count = 0
  for (let after = from; ; ) {
    const keys = await storage.list(prefix, { after, limit: PAGE })
    const wanted = keys.filter(isWanted)
    if (!mayWrite()) return count
    if (wanted.length > 0) await storage.remove(wanted)
    count += wanted.length
    if (keys.length < PAGE) return count
    after = keys.at(-1)
  }
}
