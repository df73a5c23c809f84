// rbac: tintype.dev/accounts get
// rbac: tintype.dev/screenshots/status patch

/**
 * This controller observes deleted Accounts, and queued Screenshots whose Account does not exist. It fails the account's queued captures
 * and writes the time of the deletion to the bucket; the stored data is deleted after a grace period (retention/deleted-accounts.ts).
 * Running captures finish normally. Uncharged Screenshots keep waiting, because users may create them before their Account.
 */

import { keyOf, splitKey } from '@tintype/crds/client/kube-object'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { deletedAccountKey } from '@tintype/crds/records/storage-keys'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import type { Controller } from '../../controller-runtime/controller.ts'
import { findAccount } from '../../kube/find-account.ts'
import { patchStatus } from '../../kube/patch-seen.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import { isCharged } from '../quota/decide.ts'
import { toDeletionText } from '../retention/marks.ts'
import { buildFailure } from '../screenshot/status.ts'

const WORKERS = 2
/** Index of charged Screenshots that are queued, by account. */
export const QUEUED_INDEX = 'queued-account'

export type AccountDeletionDeps = Pick<TermDeps, 'reflectors' | 'clients' | 'storage' | 'keys' | 'now' | 'log'> & {
  /** Keys of Accounts whose deletion this leader has seen but not recorded yet. */
  deleted: Set<string>
}

/** Creates the controller of one term. Call `start` on it. */
export function createDeletionController(deps: TermDeps): Controller {
  const { namespace } = deps.config
  const { accounts, screenshots } = deps.reflectors
  const deleted = new Set<string>()
  const context = { ...deps, deleted }
  const controller = createController('account-deletion', { workers: WORKERS }, (key) => reconcileDeletion(key, context), deps)
  controller.watch(accounts, ({ type, object }) => {
    const key = keyOf(object)
    if (type === 'deleted') deleted.add(key)
    return key
  })
  // Screenshots that a gateway accepted before it saw the deletion, or that an earlier leader did not process.
  controller.watch(screenshots, ({ type, object }) => {
    const account = `${namespace}/${accountOf(object)}`
    return type === 'deleted' || !isQueued(object) || findAccount(account, accounts.lister) ? [] : account
  })
  return controller
}

/** True for a charged Screenshot that waits for a runner. */
export const isQueued = (shot: Screenshot): boolean => (shot.status?.phase ?? 'Pending') === 'Pending' && isCharged(shot)

/** Ends the queued captures of a deleted Account, and records its deletion when no finalizer keeps it any more. */
export async function reconcileDeletion(key: string, deps: AccountDeletionDeps): Promise<void> {
  const { reflectors, clients, deleted, log } = deps
  const { name } = splitKey(key)
  if (findAccount(key, reflectors.accounts.lister)) return void deleted.delete(key)
  const queued = reflectors.screenshots.lister.byIndex(QUEUED_INDEX, name)
  if (queued.length === 0 && !deleted.has(key)) return
  // The cache may be stale: a gateway has seen the Account, otherwise it would not have charged it.
  const account = await clients.accounts.find(name)
  if (account) reflectors.accounts.noteWritten(account)
  if (account && !isBeingDeleted(account)) return
  await Promise.all(queued.map((shot) => end(shot, name, deps)))
  if (queued.length > 0) log.info({ account: name, count: queued.length }, 'queued captures ended: their account was deleted')
  if (!account) await noteDeletion(key, deps)
}

/** The Screenshot may have been claimed meanwhile. The retry after the conflict leaves it unchanged if it is running. */
async function end(shot: Screenshot, account: string, { clients, now }: AccountDeletionDeps): Promise<void> {
  const failure = { code: 'CANCELLED', reason: 'AccountDeleted', message: `the account ${account} was deleted` } as const
  await patchStatus(clients.screenshots, shot, buildFailure(shot, failure, now()))
}

/** Records the time of the deletion. An observed deletion overwrites an earlier time; an unobserved one does not. */
async function noteDeletion(key: string, { deleted, storage, now, keys }: AccountDeletionDeps): Promise<void> {
  const { name } = splitKey(key)
  const mark = deletedAccountKey(name)
  if (!deleted.has(key) && (await storage.exists(mark))) return
  await storage.write(mark, toDeletionText(name, now(), keys.downloadKeys))
  deleted.delete(key)
}
