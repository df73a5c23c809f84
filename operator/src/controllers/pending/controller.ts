// rbac: tintype.dev/screenshots list,watch
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/runnerpools list,watch
// rbac: tintype.dev/accounts list,watch

/**
 * This controller observes queued Screenshots, and the RunnerPools and Accounts that they need. It sets a condition with the reason on those
 * that cannot run and fails them after a timeout. It also fails those beyond the queue limit of their account. Its keys are accounts, and
 * it requeues when the next Screenshot has waited too long. It has its own worker and writes a few statuses at a time, so that ten thousand
 * of them do not delay claims or each other.
 */

import { isConflict } from '@tintype/crds/client/kube-error'
import { API_VERSION, DEFAULT_VIDEO_POOL } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/lists'
import { findPlan } from '@tintype/crds/usage/plans'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { patchStatus } from '../../kube/clients.ts'
import { findAccount } from '../../kube/reflectors.ts'
import { PHASE_INDEX } from '../../runner/runners.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { canRecordIn, poolsOf } from '../../scheduling/dispatcher.ts'
import { isCharged } from '../quota/decide.ts'
import { buildCleared, buildFailure, buildUnrunnable, type StatusPatch } from '../screenshot/status.ts'
import {
  decide,
  isPending,
  NO_ACCOUNT,
  type Obstacle,
  PENDING_INDEX,
  type PendingAction,
  type PendingContext,
  type PendingDecision,
  type PendingLimits,
  type PendingScreenshot,
  pendingAccountOf,
} from './decide.ts'

/** How long changes are collected before an account is reconciled. */
const GATHER_MILLISECONDS = 100

/** Creates the controller. Call it once per process. `charges`: uncharged Screenshots need an Account. */
export function createPendingController(deps: Deps, { charges }: { charges: boolean }): Work {
  deps.reflectors.screenshots.lister.addIndex(PENDING_INDEX, pendingAccountOf)
  return { start: (term) => startTerm(inTerm(deps, term), charges) }
}

function startTerm(deps: TermDeps, charges: boolean): StartedWork {
  const { config, reflectors } = deps
  const context: PendingContext = {
    ...deps,
    log: deps.log.child({ component: 'pending' }),
    poolOf: poolsOf(reflectors.accounts.lister, config.plans, config.namespace),
    charges,
    enqueueAfter: (account, milliseconds) => controller.enqueueAfter(account, milliseconds),
  }
  const controller: Controller = createController('pending', { workers: 1 }, (key) => reconcile(key, context), context)
  watchChanges(controller, context)
  return startControllers([controller])
}

/** Which change enqueues which account. */
function watchChanges(controller: Controller, context: PendingContext): void {
  const { screenshots, pools, accounts } = context.reflectors
  const { lister } = screenshots
  controller.watchAndCollect(GATHER_MILLISECONDS, screenshots, ({ type, object, old }) =>
    type === 'deleted' || !isPending(object) || (old && isPending(old)) ? [] : keyFor(accountOf(object), context),
  )
  controller.watchAndCollect(GATHER_MILLISECONDS, pools, ({ type, object, old }) =>
    type === 'modified' && object.spec.video === old?.spec.video
      ? []
      : lister.indexValues(PENDING_INDEX).map((account) => keyFor(account, context)),
  )
  controller.watchAndCollect(GATHER_MILLISECONDS, accounts, ({ object: { metadata } }) =>
    lister.countByIndex(PENDING_INDEX, metadata.name) === 0 ? [] : [metadata.name, NO_ACCOUNT],
  )
}

/** Reconciles the queued Screenshots of one account. */
async function reconcile(key: string, context: PendingContext): Promise<Requeue> {
  const observed = observe(key, context)
  const decision = decide(observed.waiting, observed.limits, context.now())
  return { requeueAfterMilliseconds: await apply(key, decision, observed, context) }
}

const MISSING_POOL = { code: 'POOL_NOT_FOUND', reason: 'PoolNotFound' } as const
const MISSING_ACCOUNT = { code: 'ACCOUNT_NOT_FOUND', reason: 'AccountNotFound' } as const

interface Observed {
  waiting: PendingScreenshot[]
  limits: PendingLimits
  /** True when archiving is behind. Failed Screenshots must be archived, and more of them would make the gateways reject all requests. */
  isArchiveBehind: boolean
}

/** Collects the input of decide from the informer caches. */
export function observe(key: string, context: PendingContext): Observed {
  return { waiting: waitingOf(key, context), limits: limitsOf(key, context), isArchiveBehind: isArchiveBehind(context) }
}

function waitingOf(key: string, context: PendingContext): PendingScreenshot[] {
  const { lister } = context.reflectors.screenshots
  const accounts = key === NO_ACCOUNT ? lister.indexValues(PENDING_INDEX).filter((account) => !accountNamed(account, context)) : [key]
  return accounts
    .flatMap((account) => lister.byIndex(PENDING_INDEX, account))
    .map((shot) => ({ shot, obstacle: obstacleOf(shot, context) }))
}

function obstacleOf(shot: Screenshot, context: PendingContext): Obstacle | undefined {
  const { charges, poolOf, reflectors, config } = context
  const account = accountOf(shot)
  if (charges && !isCharged(shot) && !accountNamed(account, context))
    return {
      ...MISSING_ACCOUNT,
      message: `Account ${account} does not exist, or was deleted. Create it, or create the Screenshot with another spec.accountName.`,
    }
  const pool = poolOf(shot)
  const object = reflectors.pools.lister.get(`${config.namespace}/${pool}`)
  if (!object) return { ...MISSING_POOL, message: missingPool(shot, pool) }
  if (canRecordIn(shot, object)) return undefined
  return {
    code: 'VIDEO_UNAVAILABLE',
    message: `RunnerPool ${pool} does not record videos. Leave out spec.poolName, or set spec.video of the pool to true and its image to capture-runner-video.`,
  }
}

function missingPool({ spec }: Screenshot, pool: string): string {
  const remedy = `RunnerPool ${pool} does not exist. Create it, or create the Screenshot with another spec.poolName.`
  const isDefault = spec.poolName === undefined && pool === DEFAULT_VIDEO_POOL
  return isDefault ? `${remedy} The value runner.video.enabled of the chart creates it.` : remedy
}

function limitsOf(key: string, context: PendingContext): PendingLimits {
  const { plans, queue } = context.config
  const plan = accountNamed(key, context)?.spec.plan
  return {
    maxQueued: (plan === undefined ? undefined : findPlan(plans, plan)?.maxQueued) ?? queue.maxQueuedPerAccount,
    unrunnableMilliseconds: queue.unrunnableMilliseconds,
  }
}

function isArchiveBehind({ reflectors, config }: PendingContext): boolean {
  const { lister } = reflectors.screenshots
  return lister.countByIndex(PHASE_INDEX, 'Completed') + lister.countByIndex(PHASE_INDEX, 'Failed') >= config.retention.maxLive
}

const accountNamed = (name: string, { reflectors, config }: Pick<PendingContext, 'reflectors' | 'config'>): Account | undefined =>
  findAccount(`${config.namespace}/${name}`, reflectors.accounts.lister)

/** The key under which the Screenshots of an account are reconciled. */
const keyFor = (account: string, context: Pick<PendingContext, 'reflectors' | 'config'>): string =>
  accountNamed(account, context) ? account : NO_ACCOUNT

/** Statuses written in one pass, writes at a time, and the pause before the next pass. */
const MAX_WRITES = 40
const PARALLEL = 8
const PAUSE_MILLISECONDS = 100
/** How often to check whether archiving has caught up. */
const BACKLOG_MILLISECONDS = 5_000

/** Executes a few of the actions at a time. Returns the delay until the next reconcile. */
async function apply(
  key: string,
  { actions, nextMilliseconds }: PendingDecision,
  { isArchiveBehind }: Observed,
  context: PendingContext,
): Promise<number | undefined> {
  const due = isArchiveBehind ? actions.filter((action) => action.do !== 'fail') : actions
  const now = due.slice(0, MAX_WRITES)
  await mapConcurrently(now, PARALLEL, (action) => execute(action, context))
  const failed = now.filter((action) => action.do === 'fail').length
  if (failed > 0) context.log.info({ key, failed, left: actions.length - now.length }, 'queued screenshots failed')
  if (due.length > now.length) return PAUSE_MILLISECONDS
  return due.length < actions.length ? BACKLOG_MILLISECONDS : nextMilliseconds
}

async function execute(action: PendingAction, context: PendingContext): Promise<void> {
  const { shot } = action
  const { clients, events, config, now, enqueueAfter } = context
  const written = await patchStatus(clients.screenshots, shot, statusFor(action, now())).catch((error: unknown) => {
    if (!isConflict(error)) throw error
  })
  // Claimed, changed or deleted meanwhile: reconcile again.
  if (!written) return enqueueAfter(keyFor(accountOf(shot), context), PAUSE_MILLISECONDS)
  if (action.do !== 'note') return
  const { reason, message } = action.obstacle
  events.warn({ ...shot, apiVersion: API_VERSION, kind: 'Screenshot' }, reason, message)
  enqueueAfter(keyFor(accountOf(shot), context), config.queue.unrunnableMilliseconds)
}

function statusFor(action: PendingAction, now: Date): StatusPatch {
  switch (action.do) {
    case 'note':
      return buildUnrunnable(action.shot, action.obstacle.reason, action.obstacle.message, now)
    case 'clear':
      return buildCleared(action.shot, now)
    case 'fail':
      return buildFailure(action.shot, action, now)
  }
}
