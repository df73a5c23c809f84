// What is kept no longer: files after their plan's days, records after theirs, and all of accounts that are gone. Keys are in the order of
// time, newest first, so what is due is the end of a list and nothing else is looked at. What was removed is not found again: a sweep that
// was interrupted goes on where it ended.

import type { Log } from '@tintype/crds/client/log'
import { newId } from '@tintype/crds/ids'
import type { Account } from '@tintype/crds/kinds/account'
import type { Plans } from '@tintype/crds/plans'
import { EXPIRIES_PREFIX, invertedDay, objectKeyPrefix, parseExpiryKey, REWRITES_PREFIX, recordsPrefix } from '@tintype/crds/storage-keys'
import { PAGE } from '../storage/objects.ts'
import type { Storage } from '../storage/storage.ts'
import type { GoneAccounts } from './gone-accounts.ts'

export interface ExpireDeps {
  storage: Pick<Storage, 'list' | 'remove'>
  findAccount: (name: string) => Account | undefined
  gone: GoneAccounts
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
/** Where something of an account is kept, by its name. */
const PLACES = [USERS, 'options/', 'cache/', 'batches/', 'deliveries/', 'idempotency/', REWRITES_PREFIX, RECORDS]
/** Beyond every id of the same instant. */
const LAST_TAIL = Buffer.alloc(10, 0xff)

/** One sweep over all accounts that have something in the bucket. */
export async function expire(deps: ExpireDeps): Promise<void> {
  const gone = await removeGone(deps)
  await removeMarked(deps)
  for await (const account of folders(USERS, undefined, deps)) {
    if (gone.has(account)) continue
    const cutoff = daysAgo(retentionDaysOf(account, deps), deps)
    const prefix = `${USERS}${account}/`
    const count = await removeAfter(prefix, prefix + newId('scr', cutoff, LAST_TAIL), deps)
    if (count > 0) deps.log.info({ account, files: count }, 'files expired')
  }
  for await (const account of folders(RECORDS, undefined, deps)) {
    if (gone.has(account)) continue
    const prefix = recordsPrefix(account)
    // A day goes when all of it is old enough.
    const lastKept = `${prefix}${invertedDay(daysAgo(recordDaysOf(account, deps), deps))}~`
    for await (const day of folders(prefix, lastKept, deps)) {
      const count = await removeAfter(`${prefix}${day}/`, undefined, deps)
      deps.log.info({ account, day, objects: count }, 'records expired')
    }
  }
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
    if (exists || !(await gone.isLongGone(account))) continue
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
  const { storage, mayWrite, now, log } = deps
  for (let after: string | undefined; mayWrite(); ) {
    const keys = await storage.list(EXPIRIES_PREFIX, { after, limit: PAGE })
    for (const key of keys) {
      const mark = parseExpiryKey(key)
      if (mark && mark.at > now()) return
      if (!mayWrite()) return
      const count = mark ? await removeAfter(objectKeyPrefix(mark.account, mark.id), undefined, deps) : 0
      await storage.remove([key])
      if (count > 0) log.debug({ account: mark?.account, files: count }, 'files expired as their request said')
    }
    if (keys.length < PAGE) return
    after = keys.at(-1)
  }
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

/** Names of the folders right under a prefix. */
async function* folders(prefix: string, from: string | undefined, { storage, mayWrite }: ExpireDeps): AsyncGenerator<string> {
  for (let after = from; mayWrite(); ) {
    const found = await storage.list(prefix, { after, limit: PAGE, folders: true })
    for (const folder of found) {
      if (!mayWrite()) return
      if (folder.endsWith('/')) yield folder.slice(prefix.length, -1)
    }
    if (found.length < PAGE) return
    after = `${found.at(-1)}~`
  }
}

async function removeAfter(prefix: string, after: string | undefined, { storage, mayWrite }: ExpireDeps): Promise<number> {
  for (let count = 0; ; ) {
    const keys = await storage.list(prefix, { after, limit: PAGE })
    if (keys.length === 0 || !mayWrite()) return count
    await storage.remove(keys)
    count += keys.length
    if (keys.length < PAGE) return count
  }
}
