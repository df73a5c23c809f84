// rbac: tintype.dev/accounts get
// rbac: tintype.dev/screenshots/status patch

// Handles the deletion of an Account. It ends the account's queued captures and records the time from which the stored data of the account
// may be deleted (retention/deleted-accounts.ts). Running captures finish normally. Uncharged Screenshots keep waiting, because users may
// create them before their Account.

import { isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf, splitKey } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import { mergePatch } from '@tintype/crds/client/patch'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import type { KeyRing } from '@tintype/crds/crypto/download-link'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { goneKey } from '@tintype/crds/records/storage-keys'
import { RetryableError } from '../../controller-runtime/errors.ts'
import type { Storage } from '../../storage/storage.ts'
import { isCharged } from '../quota/decide.ts'
import { toGoneText } from '../retention/marks.ts'
import { buildFailure } from '../screenshot/status.ts'

/** Index of charged Screenshots that are queued, by account. */
export const QUEUED_INDEX = 'queued-account'

export interface AccountDeletionDeps {
  accounts: Pick<Lister<Account>, 'has'>
  seenAccounts: Pick<Reflector<Account>, 'observe'>
  accountStore: Pick<Resource<Account>, 'find'>
  screenshots: Pick<Lister<Screenshot>, 'byIndex'>
  seen: Pick<Reflector<Screenshot>, 'observe'>
  store: Pick<Resource<Screenshot>, 'patch'>
  storage: Pick<Storage, 'exists' | 'write'>
  /** Signs marks in the bucket. */
  ring: KeyRing
  /** Keys of Accounts whose deletion this leader has seen but not recorded yet. */
  deleted: Set<string>
  isLeader: () => boolean
  now: () => Date
  log: Log
}

/** True for a charged Screenshot that waits for a runner. */
export const isQueued = (shot: Screenshot): boolean => (shot.status?.phase ?? 'Pending') === 'Pending' && isCharged(shot)

/** Ends the queued captures of a deleted Account. */
export async function reconcileDeletion(key: string, deps: AccountDeletionDeps): Promise<void> {
  const { accounts, accountStore, seenAccounts, screenshots, deleted, log } = deps
  const { name } = splitKey(key)
  if (accounts.has(key)) return void deleted.delete(key)
  const queued = screenshots.byIndex(QUEUED_INDEX, name)
  if (queued.length === 0 && !deleted.has(key)) return
  // The cache may be stale: a gateway has seen the Account, otherwise it would not have charged it.
  const account = await accountStore.find(name)
  if (account) return seenAccounts.observe(account)
  await Promise.all(queued.map((shot) => end(shot, name, deps)))
  if (queued.length > 0) log.info({ account: name, count: queued.length }, 'queued captures ended: their account was deleted')
  await noteDeletion(key, deps)
}

async function end(shot: Screenshot, account: string, { store, seen, isLeader, now }: AccountDeletionDeps): Promise<void> {
  if (!isLeader()) throw new RetryableError('leadership lost')
  const { name, namespace, resourceVersion } = shot.metadata
  const failure = { code: 'CANCELLED', reason: 'AccountDeleted', message: `the account ${account} was deleted` } as const
  const patch = mergePatch({ status: buildFailure(shot, failure, now()) }, { resourceVersion })
  try {
    seen.observe(await store.patch(name, patch, { namespace, subresource: 'status' }))
  } catch (error) {
    if (isNotFound(error)) return
    // The Screenshot may have been claimed meanwhile. The retry leaves it unchanged if it is running.
    throw isConflict(error) ? new RetryableError(`end ${keyOf(shot)}`, { cause: error }) : error
  }
}

/** Records the time of the deletion. An observed deletion overwrites an earlier time; an unobserved one does not. */
async function noteDeletion(key: string, { deleted, storage, now, ring }: AccountDeletionDeps): Promise<void> {
  const mark = goneKey(splitKey(key).name)
  if (!deleted.has(key) && (await storage.exists(mark))) return
  await storage.write(mark, toGoneText(splitKey(key).name, now(), ring))
  deleted.delete(key)
}
