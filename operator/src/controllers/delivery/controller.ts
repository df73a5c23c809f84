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

import { isConflict, isInvalid, isNotFound, isPatchFailed } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Reflector, ReflectorEvent } from '@tintype/crds/client/reflector'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { Annotation } from '@tintype/crds/identifiers/names'
import { MAX_DELIVERIES, Screenshot } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { findDefaultWebhook, REQUEST_WEBHOOK } from '@tintype/crds/webhooks/deliveries'
import { eventIdOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import { type Controller, type Requeue, RetryableError, TerminalError } from '../../controller-runtime/controller.ts'
import { readObject } from '../../kube/read-object.ts'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import { createController } from '../../runtime/deps.ts'
import type { DeliveryContext } from './context.ts'
import { type Action, type Candidate, type DeliveryStateChange, decide, hasEnded, type Progress, toDeliveryStatePatch } from './decide.ts'
import { DeliveryWorker } from './delivery-worker.ts'
import { isReceiver, isRequestReceiver, type Occurrence, toDeliveryId, toOccurrences } from './events/receivers.ts'
import { type Observed, ProgressStore, type ScreenshotProgress } from './progress.ts'
import { toWithdrawal } from './telemetry/delivery-log.ts'
import { keepMissed, keepOpen } from './undelivered-store.ts'

/** What a reconcile uses. */
interface ReconcileDeps extends DeliveryContext {
  progressStore: ProgressStore
  deliveryWorker: DeliveryWorker
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
export function createDeliveryController(deps: DeliveryContext): RunningDeliveries {
  const { archiving, backlog, schedule } = deps
  const { screenshots, webhooks } = deps.reflectors
  const progressStore = new ProgressStore(backlog)
  // Events of a Screenshot that is archived are not posted from status.deliveries.
  const exists = ({ metadata }: Screenshot) =>
    screenshots.lister.get(keyOf({ metadata }))?.metadata.uid === metadata.uid && !archiving.isHeld({ metadata })
  const onProgress = (key: string) => controller.enqueue(key)
  const context = { ...deps, progressStore, deliveryWorker: new DeliveryWorker({ ...deps, exists, onProgress }) }
  const controller: Controller = createController('delivery', { workers: WORKERS }, (key, signal) => reconcile(key, context, signal), deps)
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
  const { schedule, progressStore, backlog, mayStart, now } = deps
  const options = { schedule, mayPost: mayStart(), isDeleteRequested, isCrowded: backlog.isFull, now: now() }
  const requeue = await apply(decide(candidates, options), observed, deps, signal)
  progressStore.prune(key)
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

/** Collects the input of decide from the informer caches; undefined when the Screenshot was deleted. */
export function observe(
  key: string,
  { reflectors, eventOrder, progressStore }: Pick<ReconcileDeps, 'reflectors' | 'eventOrder' | 'progressStore'>,
): Observed | undefined {
  const { screenshots, webhooks } = reflectors
  const cached = screenshots.lister.get(key)
  if (!cached || isBeingDeleted(cached)) return undefined
  const screenshot = readObject('Screenshot', Screenshot, cached)
  const occurrences = toOccurrences(screenshot, eventOrder.followsStart)
  const progress = progressStore.of(key, screenshot.metadata.uid)
  const hooks = [...webhooks.lister.byIndex(ACCOUNT_INDEX, accountOf(screenshot))]
  const isDeleteRequested = screenshot.metadata.annotations?.[Annotation.deleteRequested] !== undefined
  const candidates = occurrences
    .flatMap((occurrence) => toCandidates(screenshot, occurrence, hooks, progress))
    // Deliveries that were started before the deletion are finished; no new ones start.
    .filter(({ entry, progress: known }) => entry !== undefined || !isDeleteRequested || isPosted(known))
  return { screenshot, occurrences, candidates, progress, isDeleteRequested, defaultWebhook: findDefaultWebhook(hooks) }
}

function toCandidates(screenshot: Screenshot, occurrence: Occurrence, hooks: Webhook[], progress: ScreenshotProgress): Candidate[] {
  const { event } = occurrence
  const states = screenshot.status?.deliveries?.[event] ?? {}
  const receivers = new Set(
    hooks.filter((hook) => isReceiver(hook, occurrence, states[hook.metadata.name])).map(({ metadata }) => metadata.name),
  )
  if (isRequestReceiver(screenshot, occurrence, findDefaultWebhook(hooks))) receivers.add(REQUEST_WEBHOOK)
  // The result of a post is recorded even if its webhook was deleted meanwhile. The API server would reject a patch with more than
  // MAX_DELIVERIES entries.
  const names = [...new Set([...Object.keys(states), ...progress.webhooksOf(event), ...receivers])].slice(0, MAX_DELIVERIES)
  return names.map((webhook) => {
    const entry = states[webhook]
    const isWanted = receivers.has(webhook)
    const known = progress.get(event, webhook)
    const isObsolete = isRecorded(known, entry) || (known?.state === 'deferred' && !isWanted)
    if (isObsolete) progress.delete(event, webhook)
    return { event, webhook, isReceiver: isWanted, entry, progress: isObsolete ? undefined : known }
  })
}

/** True for a post that was sent, whether or not it has ended. */
const isPosted = (progress: Progress | undefined): boolean => progress?.state === 'posting' || progress?.state === 'ended'

/** True when status.deliveries already contains the result, or a later one. */
function isRecorded(progress: Progress | undefined, entry: Candidate['entry']): boolean {
  if (progress?.state !== 'ended' || entry === undefined) return false
  return hasEnded(entry) || entry.attempts > progress.attempt
}

/** Executes the actions in order: status.deliveries is written before the posts that depend on it. */
export async function apply(
  actions: readonly Action[],
  observed: Observed,
  deps: ReconcileDeps,
  signal: AbortSignal,
): Promise<Requeue | undefined> {
  let requeue: Requeue | undefined
  for (const action of actions) {
    if (action.do === 'record') await record(action.changes, observed, deps, signal)
    else if (action.do === 'post') send(action, observed, deps)
    else if (action.do === 'deleteScreenshot') await remove(observed, deps, signal)
    else requeue = { requeueAfterMilliseconds: action.afterMilliseconds }
  }
  return requeue
}

function send(
  { event, webhook, attempt }: Action & { do: 'post' },
  { screenshot, occurrences, progress }: Observed,
  { deliveryWorker }: ReconcileDeps,
) {
  const occurrence = occurrences.find((candidate) => candidate.event === event)
  if (occurrence) deliveryWorker.send({ screenshot, occurrence, webhook, attempt, progress })
}

async function record(changes: DeliveryStateChange[], observed: Observed, deps: ReconcileDeps, signal: AbortSignal): Promise<void> {
  const { screenshot, progress } = observed
  const { name } = screenshot.metadata
  const failed = changes.filter(({ after }) => after.state === 'failed')
  if (failed.length > 0) await tryToKeepMissed(observed, failed, deps)
  try {
    await deps.clients.screenshots.patch(name, toDeliveryStatePatch(screenshot, changes), { subresource: 'status', signal })
  } catch (error) {
    if (isNotFound(error)) return
    // A failed `test` means that the cache is behind. The next reconcile decides on the new state.
    if (isPatchFailed(error)) throw new RetryableError('status.deliveries changed meanwhile', { cause: error })
    if (isInvalid(error)) throw new TerminalError('DeliveryStateRefused', 'the API server rejected status.deliveries', { cause: error })
    throw error
  }
  for (const change of changes) {
    // A change without a status code is not the result of a post: it gives up.
    if (change.statusCode !== undefined) progress.delete(change.event, change.webhook)
    reportChange(observed, change, deps)
  }
}

/** Without the bucket, these deliveries cannot be redelivered, but results must be recorded. */
async function tryToKeepMissed(observed: Observed, failed: readonly DeliveryStateChange[], deps: ReconcileDeps): Promise<void> {
  try {
    await keepMissed(observed, failed, deps)
  } catch (error) {
    deps.log.warn({ key: keyOf(observed.screenshot), err: error }, 'missed delivery not stored; it cannot be redelivered with others')
  }
}

/** Deletes a Screenshot whose deletion waited for its deliveries. Its files are removed as with any deletion. */
async function remove(observed: Observed, deps: ReconcileDeps, signal: AbortSignal): Promise<void> {
  const { clients, reflectors, log } = deps
  const { screenshot } = observed
  await keepOpen(observed, deps)
  const { name, uid } = screenshot.metadata
  try {
    await clients.screenshots.delete(name, { uid, signal })
  } catch (error) {
    // Already deleted, or replaced by another object of the same name.
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
  reflectors.screenshots.noteDeleted(screenshot)
  log.debug({ key: keyOf(screenshot) }, 'screenshot deleted after its deliveries')
}

function reportChange(
  { screenshot, defaultWebhook }: Observed,
  change: DeliveryStateChange,
  { statistics, log, metrics, findWebhook, deliveryLog }: ReconcileDeps,
): void {
  const { event, webhook, after } = change
  const name = webhook === REQUEST_WEBHOOK ? defaultWebhook?.metadata.name : webhook
  const counted = name === undefined ? undefined : `${screenshot.metadata.namespace}/${name}`
  if (counted !== undefined) statistics.count(counted, change)
  if (!hasEnded(after)) return
  const result = after.state === 'ok' ? 'ok' : 'failed'
  if (counted !== undefined && change.statusCode === undefined) noteWithdrawal(findWebhook(counted), screenshot, change, deliveryLog)
  metrics.deliveries.inc({ event, result })
  log.info({ key: keyOf(screenshot), webhook, event, result, attempts: after.attempts, statusCode: change.statusCode }, 'delivery ended')
}

/** Logs that an endpoint no longer wanted an event; otherwise the delivery would stay pending in the log. */
export function noteWithdrawal(
  webhook: Webhook | undefined,
  screenshot: Screenshot,
  { event: type, after }: DeliveryStateChange,
  deliveryLog: DeliveryContext['deliveryLog'],
): void {
  if (!webhook) return
  const id = eventIdOf(screenshot, type)
  deliveryLog.note(webhook, {
    delivery: toDeliveryId(eventTimeOf(screenshot, type), id, webhook),
    event: id,
    type,
    screenshot: screenshotIdOf(screenshot.metadata),
    ...toWithdrawal(after.attempts, after.at),
  })
}
