// rbac: tintype.dev/accounts get
// rbac: tintype.dev/screenshots/status patch

/**
 * This controller observes deleted Accounts, and queued Screenshots whose Account does not exist. It fails the account's queued captures
 * and writes the time of the deletion to the bucket; the stored data is deleted after a grace period (retention/deleted-accounts.ts).
 * Running captures finish normally. Uncharged Screenshots of an Account that never existed keep waiting, because users may create them first.
 */

import { keyOf, splitKey } from '@tintype/crds/client/kube-object'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { deletedAccountKey } from '@tintype/crds/records/storage-keys'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import type { Controller } from '../../controller-runtime/controller.ts'
import { patchStatus } from '../../kube/clients.ts'
import { findAccount } from '../../kube/reflectors.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import { isPending, PENDING_INDEX } from '../pending/decide.ts'
import { isCharged } from '../quota/decide.ts'
import { toDeletionText } from '../retention/deleted-accounts.ts'
import { buildFailure } from '../screenshot/status.ts'

const WORKERS = 2
/** Statuses written at a time. */
const PARALLEL = 8

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
  controller.watch(accounts, ({ type, object, old }) => {
    const key = keyOf(object)
    if (type === 'deleted' || (old && old.metadata.uid !== object.metadata.uid)) deleted.add(key)
    return key
  })
  // Screenshots that a gateway accepted before it saw the deletion, that users created after it, or that an earlier leader did not process.
  controller.watch(screenshots, ({ type, object, old }) => {
    const account = `${namespace}/${accountOf(object)}`
    return type === 'deleted' || !isPending(object) || (old && isPending(old)) || findAccount(account, accounts.lister) ? [] : account
  })
  return controller
}

/**
 * Ends the queued captures of a deleted Account, and records its deletion when no finalizer keeps it any more. An Account that was created
 * again does not get the captures of its predecessor.
 */
export async function reconcileDeletion(key: string, deps: AccountDeletionDeps): Promise<void> {
  const { reflectors, clients, deleted, log } = deps
  const { name } = splitKey(key)
  const cached = findAccount(key, reflectors.accounts.lister)
  const queued = reflectors.screenshots.lister.byIndex(PENDING_INDEX, name)
  if (!deleted.has(key) && (cached || queued.length === 0)) return
  // The cache may be stale: a gateway has seen the Account, otherwise it would not have charged it.
  const account = cached ?? (await clients.accounts.find(name))
  if (account && !cached) reflectors.accounts.noteWritten(account)
  const isBack = account !== undefined && !isBeingDeleted(account)
  if (isBack && !deleted.has(key)) return
  const ended = isBack ? queued.filter((shot) => isOlder(shot, account)) : await findEnded(key, queued, account, deps)
  await mapConcurrently(ended, PARALLEL, (shot) => end(shot, name, deps))
  if (ended.length > 0) log.info({ account: name, count: ended.length }, 'queued captures ended: their account was deleted')
  if (isBack) deleted.delete(key)
  else if (!account && (deleted.has(key) || ended.length > 0)) await noteDeletion(key, deps)
}

/** Kubernetes timestamps have a resolution of one second. */
const isOlder = ({ metadata }: Screenshot, account: Account): boolean => metadata.creationTimestamp < account.metadata.creationTimestamp

/** Without a sign that the Account existed, only what a gateway has charged ends. The mark of a deletion stays until all data is deleted. */
async function findEnded(
  key: string,
  queued: readonly Screenshot[],
  account: Account | undefined,
  { deleted, storage }: AccountDeletionDeps,
): Promise<readonly Screenshot[]> {
  const isKnown = account !== undefined || deleted.has(key) || queued.every(isCharged)
  return isKnown || (await storage.exists(deletedAccountKey(splitKey(key).name))) ? queued : queued.filter(isCharged)
}

/** The Screenshot may have been claimed meanwhile. The retry after the conflict leaves it unchanged if it is running. */
async function end(shot: Screenshot, account: string, { clients, now }: AccountDeletionDeps): Promise<void> {
  const message = `the account ${account} was deleted. Create the account again, and then the Screenshot`
  const failure = { code: 'CANCELLED', reason: 'AccountDeleted', message } as const
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
