// rbac: tintype.dev/screenshots list,watch
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/runnerpools list,watch
// rbac: tintype.dev/accounts list,watch

import { screenshots as screenshotKind } from '@tintype/crds/client/kinds'
/**
 * This controller observes queued Screenshots. Those that cannot run get a condition with the reason and fail after a timeout; those beyond
 * the limit of their account fail. It has its own worker and writes a few statuses at a time, so that ten thousand of them do not delay
 * claims or each other.
 */
import { isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { mergePatch } from '@tintype/crds/client/patch'
import { Resource } from '@tintype/crds/client/resource'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { mapConcurrently } from '@tintype/crds/runtime/map-concurrently'
import { findPlan } from '@tintype/crds/usage/plans'
import { Controller, type Requeue } from '../controller/controller.ts'
import { poolsOf } from '../dispatcher/pool-of.ts'
import { isCharged } from '../quota/decide.ts'
import { PHASE_INDEX } from '../runner/runners.ts'
import type { Deps, StartedWork, Work } from '../runtime/deps.ts'
import { buildCleared, buildFailure, buildUnrunnable, type StatusPatch } from '../screenshot/status.ts'
import { decide, type Obstacle, type PendingAction, type PendingLimits, type PendingScreenshot } from './decide.ts'

/** Index of queued Screenshots by account. */
const PENDING_INDEX = 'pending/account'
/** Key for all accounts that do not exist. Together they share the queue limit of one account. */
const NO_ACCOUNT = '*'

/** How long changes are collected before an account is reconciled. */
const GATHER_MILLISECONDS = 100
/** Statuses written in one pass, writes at a time, and the pause before the next pass. */
const MAX_WRITES = 40
const PARALLEL = 8
const PAUSE_MILLISECONDS = 100
/** How often to check whether archiving has caught up. */
const BACKLOG_MILLISECONDS = 5_000

const isPending = ({ metadata, status }: Screenshot): boolean =>
  (status?.phase ?? 'Pending') === 'Pending' && metadata.deletionTimestamp === undefined

/** Creates the part. Call it once per process. `charges`: uncharged Screenshots need an Account. */
export function createPending(deps: Deps, { charges }: { charges: boolean }): Work {
  deps.reflectors.screenshots.lister.addIndex(PENDING_INDEX, (shot) => (isPending(shot) ? accountOf(shot) : undefined))
  return { start: (signal) => startTerm(deps, charges, signal) }
}

function startTerm(deps: Deps, charges: boolean, term: AbortSignal): StartedWork {
  const { config, http, reflectors, events, clock } = deps
  const { namespace, plans } = config
  const { lister } = reflectors.screenshots
  const store = new Resource(http, screenshotKind, { namespace })
  const log = deps.log.child({ component: 'pending' })
  const poolOf = poolsOf(reflectors.accounts.lister, plans, namespace)
  const isLeader = () => !term.aborted && deps.isLeader()
  const accountNamed = (name: string) => reflectors.accounts.lister.get(`${namespace}/${name}`)
  const keyFor = (account: string): string => (accountNamed(account) ? account : NO_ACCOUNT)
  const isArchiveBehind = () =>
    lister.countByIndex(PHASE_INDEX, 'Completed') + lister.countByIndex(PHASE_INDEX, 'Failed') >= config.retention.maxLive

  function obstacleOf(shot: Screenshot): Obstacle | undefined {
    const account = accountOf(shot)
    if (charges && !isCharged(shot) && !accountNamed(account))
      return {
        ...MISSING_ACCOUNT,
        message: `Account ${account} does not exist. Create it, or create the Screenshot with another spec.accountName.`,
      }
    const pool = poolOf(shot)
    if (reflectors.pools.lister.has(`${namespace}/${pool}`)) return undefined
    return {
      ...MISSING_POOL,
      message: `RunnerPool ${pool} does not exist. Create it, or create the Screenshot with another spec.poolName.`,
    }
  }

  const pendingOf = (key: string): PendingScreenshot[] => {
    const accounts = key === NO_ACCOUNT ? lister.indexValues(PENDING_INDEX).filter((account) => !accountNamed(account)) : [key]
    return accounts.flatMap((account) => lister.byIndex(PENDING_INDEX, account)).map((shot) => ({ shot, obstacle: obstacleOf(shot) }))
  }

  const limitsOf = (key: string): PendingLimits => {
    const plan = accountNamed(key)?.spec.plan
    const { maxQueuedPerAccount, unrunnableMilliseconds } = config.queue
    return { maxQueued: (plan !== undefined ? findPlan(plans, plan)?.maxQueued : undefined) ?? maxQueuedPerAccount, unrunnableMilliseconds }
  }

  async function reconcile(key: string): Promise<Requeue> {
    const { actions, nextMilliseconds } = decide(pendingOf(key), limitsOf(key), new Date(clock.wall()))
    // Failed Screenshots must be archived. While archiving is behind, failing more would make the gateways reject all requests.
    const isHeld = isArchiveBehind()
    const due = isHeld ? actions.filter((action) => action.do !== 'fail') : actions
    const now = due.slice(0, MAX_WRITES)
    await mapConcurrently(now, PARALLEL, execute)
    const failed = now.filter((action) => action.do === 'fail').length
    if (failed > 0) log.info({ key, failed, left: actions.length - now.length }, 'queued screenshots failed')
    if (due.length > now.length) return { requeueAfterMilliseconds: PAUSE_MILLISECONDS }
    return { requeueAfterMilliseconds: due.length < actions.length ? BACKLOG_MILLISECONDS : nextMilliseconds }
  }

  async function execute(action: PendingAction): Promise<void> {
    const { shot } = action
    if (!isLeader()) return
    const { name, resourceVersion } = shot.metadata
    try {
      const status = statusFor(action, new Date(clock.wall()))
      reflectors.screenshots.observe(await store.patch(name, mergePatch({ status }, { resourceVersion }), { subresource: 'status' }))
    } catch (error) {
      // Claimed, changed or deleted meanwhile: reconcile again.
      if (!isConflict(error) && !isNotFound(error)) throw error
      controller.enqueueAfter(keyFor(accountOf(shot)), PAUSE_MILLISECONDS)
      return
    }
    if (action.do !== 'note') return
    const { reason, message } = action.obstacle
    events.warn({ ...shot, apiVersion: API_VERSION, kind: 'Screenshot' }, reason, message)
    controller.enqueueAfter(keyFor(accountOf(shot)), config.queue.unrunnableMilliseconds)
  }

  const controller = new Controller({
    name: 'pending',
    workers: 1,
    reconcile,
    log,
    metrics: deps.controllerMetrics,
  })
  const enqueueAll = () => {
    for (const account of lister.indexValues(PENDING_INDEX)) controller.enqueueAfter(keyFor(account), GATHER_MILLISECONDS)
  }
  const unsubscribe = [
    reflectors.screenshots.addListener(({ type, object, old }) => {
      if (type === 'deleted' || !isPending(object) || (old && isPending(old))) return
      controller.enqueueAfter(keyFor(accountOf(object)), GATHER_MILLISECONDS)
    }),
    reflectors.pools.addListener(({ type }) => {
      if (type !== 'modified') enqueueAll()
    }),
    reflectors.accounts.addListener(({ object }) => {
      if (lister.countByIndex(PENDING_INDEX, object.metadata.name) === 0) return
      for (const key of [object.metadata.name, NO_ACCOUNT]) controller.enqueueAfter(key, GATHER_MILLISECONDS)
    }),
  ]
  controller.start()
  const stop = async () => {
    for (const end of unsubscribe) end()
    await controller.stop()
  }
  return { controllers: [controller], stop }
}

const MISSING_POOL = { code: 'POOL_NOT_FOUND', reason: 'PoolNotFound' } as const
const MISSING_ACCOUNT = { code: 'ACCOUNT_NOT_FOUND', reason: 'AccountNotFound' } as const

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
