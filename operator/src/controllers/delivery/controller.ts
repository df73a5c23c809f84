// rbac: tintype.dev/screenshots get,list,watch,delete
// rbac: tintype.dev/screenshots/status patch
// rbac: tintype.dev/webhooks get,list,watch
// rbac: /secrets get

/**
 * This controller observes Screenshots and Webhooks. It posts the events of each Screenshot to the webhooks of its account and writes the
 * results to `status.deliveries`. It also deletes a Screenshot whose deletion was requested, once its events were posted. Posts take
 * seconds, so a reconcile only starts them; when they end, they enqueue the Screenshot again. It requeues when the next attempt of a
 * delivery is due, or when a circuit breaker allows one.
 */

import { keyOf } from '@tintype/crds/client/kube-object'
import type { Reflector, ReflectorEvent } from '@tintype/crds/client/reflector'
import { Annotation } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import { type ApplyDeps, apply } from './apply.ts'
import { decide } from './decide.ts'
import { DeliveryWorker, type DeliveryWorkerDeps } from './delivery-worker.ts'
import type { RetrySchedule } from './flow-control/retry.ts'
import { type ObserveDeps, type Observed, observe } from './observe.ts'
import { type Backlog, ProgressStore } from './progress.ts'

type WorkerDeps = Omit<DeliveryWorkerDeps, 'exists' | 'onProgress'> & Omit<ObserveDeps, 'progressStore'> & Omit<ApplyDeps, 'deliveryWorker'>

export interface DeliveryControllerOptions extends TermDeps, WorkerDeps {
  log: TermDeps['log']
  schedule: RetrySchedule
  backlog: Backlog
}

const WORKERS = 32
/** Delay of a Screenshot that is archived. */
const HELD_MILLISECONDS = 1_000

/** The controller of deliveries. */
export interface RunningDeliveries {
  controller: Controller
  /** Collects the state of one Screenshot; undefined if it was deleted. */
  observe(screenshot: Screenshot): Observed | undefined
  /** Stops the controller and records all results that are not in status.deliveries yet. */
  stop(): Promise<void>
}

/** Creates the controller of one term. */
export function createDeliveryController(options: DeliveryControllerOptions): RunningDeliveries {
  const { archiving, backlog, schedule } = options
  const { screenshots, webhooks } = options.reflectors
  const progressStore = new ProgressStore(backlog)
  // Events of a Screenshot that is archived are not posted from status.deliveries.
  const exists = ({ metadata }: Screenshot) =>
    screenshots.lister.get(keyOf({ metadata }))?.metadata.uid === metadata.uid && !archiving.isHeld({ metadata })
  const onProgress = (key: string) => controller.enqueue(key)
  const context = { ...options, progressStore, deliveryWorker: new DeliveryWorker({ ...options, exists, onProgress }) }
  const controller: Controller = createController(
    'delivery',
    { workers: WORKERS },
    (key, signal) => reconcile(key, context, signal),
    options,
  )
  controller.watch(screenshots, ({ object }) => (isRelevant(object, webhooks) ? keyOf(object) : undefined))
  controller.watch(webhooks, (event) => affectedKeys(event, screenshots))
  return {
    controller,
    observe: (screenshot) => observe(keyOf(screenshot), context),
    stop: async () => {
      await controller.stop(schedule.timeoutMilliseconds)
      await Promise.all(progressStore.keys().map((key) => recordLast(key, context)))
    },
  }
}

type ReconcileDeps = DeliveryControllerOptions & ObserveDeps & ApplyDeps

/** Reconciles the events of one Screenshot. */
async function reconcile(key: string, deps: ReconcileDeps, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = observe(key, deps)
  if (!observed) {
    deps.progressStore.forget(key)
    return undefined
  }
  // No post starts while the record is archived. If that fails, they follow.
  if (deps.archiving.isHeld(observed.screenshot)) return { requeueAfterMilliseconds: HELD_MILLISECONDS }
  const { candidates, isDeleteRequested } = observed
  const { schedule, progressStore } = deps
  const isCrowded = progressStore.backlog.isFull
  const actions = decide(candidates, {
    schedule,
    mayPost: deps.mayStart(),
    isDeleteRequested,
    isCrowded,
    now: deps.now(),
  })
  const requeue = await apply(actions, observed, deps, signal)
  deps.progressStore.prune(key)
  return requeue
}

async function recordLast(key: string, deps: ReconcileDeps): Promise<void> {
  try {
    await reconcile(key, deps, AbortSignal.timeout(deps.schedule.timeoutMilliseconds))
  } catch (error) {
    deps.log.warn({ key, err: error }, 'delivery result not recorded; the post will be repeated')
  }
}

/** Most Screenshots change four times and have no webhook: they are not queued. */
function isRelevant(screenshot: Screenshot, webhooks: Reflector<Webhook>): boolean {
  if (screenshot.metadata.annotations?.[Annotation.deleteRequested] !== undefined) return true
  return screenshot.status?.deliveries !== undefined || webhooks.lister.countByIndex(ACCOUNT_INDEX, accountOf(screenshot)) > 0
}

/** Keys to reconcile after a change of a webhook: all Screenshots of its account, or none if only its statistics changed. */
function affectedKeys({ object, old, type }: ReflectorEvent<Webhook>, screenshots: Reflector<Screenshot>): string[] {
  const isSame = type === 'modified' && old && subscriptionOf(old) === subscriptionOf(object)
  return isSame ? [] : screenshots.lister.byIndex(ACCOUNT_INDEX, accountOf(object)).map(keyOf)
}

function subscriptionOf(webhook: Webhook): string {
  const { spec, status } = webhook
  return JSON.stringify([spec.accountName, spec.isDefault, isActive(webhook), spec.events, status?.activeSince, status?.subscriptions])
}
