// rbac: tintype.dev/accounts get
// rbac: tintype.dev/screenshots/status patch

/**
 * This controller observes deleted Accounts, and queued Screenshots whose Account does not exist. It fails the account's queued captures
 * and writes the time of the deletion to the bucket; the stored data is deleted after a grace period (retention/deleted-accounts.ts).
 * Running captures finish normally. Uncharged Screenshots keep waiting, because users may create them before their Account.
 */

import { accounts as accountResource, screenshots as screenshotResource } from '@tintype/crds/client/kinds'
import { keyOf, splitKey } from '@tintype/crds/client/kube-object'
import type { Lister } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import type { KeyRing } from '@tintype/crds/crypto/key-ring'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { deletedAccountKey } from '@tintype/crds/records/storage-keys'
import type { Controller } from '../../controller-runtime/controller.ts'
import { patchStatus, type Writer } from '../../kube/patch-seen.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import { createController, type Deps } from '../../runtime/deps.ts'
import type { Term } from '../../runtime/term.ts'
import type { Storage } from '../../storage/storage.ts'
import { isCharged } from '../quota/decide.ts'
import { toDeletionText } from '../retention/marks.ts'
import { buildFailure } from '../screenshot/status.ts'

const WORKERS = 2
/** Index of charged Screenshots that are queued, by account. */
export const QUEUED_INDEX = 'queued-account'

export interface AccountDeletionDeps extends Writer<Screenshot> {
  accounts: Pick<Lister<Account>, 'has'>
  seenAccounts: Pick<Reflector<Account>, 'noteWritten'>
  accountStore: Pick<Resource<Account>, 'find'>
  screenshots: Pick<Lister<Screenshot>, 'byIndex'>
  storage: Pick<Storage, 'exists' | 'write'>
  /** Signs marks in the bucket. */
  ring: KeyRing
  /** Keys of Accounts whose deletion this leader has seen but not recorded yet. */
  deleted: Set<string>
  now: () => Date
  log: Log
}

/** Dependencies of the controllers of Accounts. */
export interface DeletionControllerDeps extends Pick<Deps, 'clock' | 'log' | 'controllerMetrics'> {
  config: Pick<Deps['config'], 'namespace' | 'plans'>
  reflectors: Pick<Reflectors, 'accounts' | 'screenshots'>
  keys: Pick<Deps['keys'], 'downloadKeys'>
}

/** Creates the controller of one term. Call `start` on it. */
export function createDeletionController(deps: DeletionControllerDeps & Term): Controller {
  const { http, config, reflectors, storage, keys, clock, log } = deps
  const { namespace } = config
  const { accounts, screenshots } = reflectors
  const deleted = new Set<string>()
  const context: AccountDeletionDeps = {
    accounts: accounts.lister,
    seenAccounts: accounts,
    accountStore: new Resource(http, accountResource, { namespace }),
    screenshots: screenshots.lister,
    seen: screenshots,
    store: new Resource(http, screenshotResource, { namespace }),
    storage,
    ring: keys.downloadKeys,
    deleted,
    now: () => new Date(clock.wall()),
    log,
  }
  const controller = createController('account-deletion', { workers: WORKERS }, (key) => reconcileDeletion(key, context), deps)
  controller.watch(accounts, ({ type, object }) => {
    const key = keyOf(object)
    if (type === 'deleted') deleted.add(key)
    return key
  })
  // Screenshots that a gateway accepted before it saw the deletion, or that an earlier leader did not process.
  controller.watch(screenshots, ({ type, object }) => {
    const account = `${namespace}/${accountOf(object)}`
    return type === 'deleted' || !isQueued(object) || accounts.lister.has(account) ? [] : account
  })
  return controller
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
  if (account) return seenAccounts.noteWritten(account)
  await Promise.all(queued.map((shot) => end(shot, name, deps)))
  if (queued.length > 0) log.info({ account: name, count: queued.length }, 'queued captures ended: their account was deleted')
  await noteDeletion(key, deps)
}

/** The Screenshot may have been claimed meanwhile. The retry after the conflict leaves it unchanged if it is running. */
async function end(shot: Screenshot, account: string, deps: AccountDeletionDeps): Promise<void> {
  const failure = { code: 'CANCELLED', reason: 'AccountDeleted', message: `the account ${account} was deleted` } as const
  await patchStatus(shot, buildFailure(shot, failure, deps.now()), deps)
}

/** Records the time of the deletion. An observed deletion overwrites an earlier time; an unobserved one does not. */
async function noteDeletion(key: string, { deleted, storage, now, ring }: AccountDeletionDeps): Promise<void> {
  const mark = deletedAccountKey(splitKey(key).name)
  if (!deleted.has(key) && (await storage.exists(mark))) return
  await storage.write(mark, toDeletionText(splitKey(key).name, now(), ring))
  deleted.delete(key)
}
