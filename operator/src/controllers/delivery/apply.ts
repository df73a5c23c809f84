import { isConflict, isInvalid, isNotFound, isPatchFailed } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { REQUEST_WEBHOOK } from '@tintype/crds/webhooks/deliveries'
import { eventIdOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import { type Requeue, RetryableError, TerminalError } from '../../controller-runtime/controller.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { type Action, type DeliveryStateChange, hasEnded } from './decide.ts'
import { toDeliveryStatePatch } from './delivery-state-patch.ts'
import { type DeliveryWorker, toDeliveryId } from './delivery-worker.ts'
import type { WebhookFinder } from './endpoint.ts'
import type { Observed } from './observe.ts'
import type { Statistics } from './statistics.ts'
import { toWithdrawal } from './telemetry/attempt-line.ts'
import type { DeliveryLog } from './telemetry/delivery-log.ts'
import type { DeliveryMetrics } from './telemetry/metrics.ts'

export interface ApplyDeps extends Pick<TermDeps, 'clients' | 'reflectors'> {
  deliveryWorker: Pick<DeliveryWorker, 'send'>
  statistics: Pick<Statistics, 'count'>
  deliveryLog: Pick<DeliveryLog, 'note'>
  findWebhook: WebhookFinder['findWebhook']
  /** Stores the open deliveries of a Screenshot that is deleted. @throws RetryableError */
  keepOpen: (observed: Observed) => Promise<void>
  /** Stores deliveries that failed, so that they can be redelivered. */
  keepMissed: (observed: Observed, failed: readonly DeliveryStateChange[]) => Promise<void>
  log: Log
  metrics: Pick<DeliveryMetrics, 'deliveries'>
}

/** Executes the actions in order: status.deliveries is written before the posts that depend on it. */
export async function apply(
  actions: readonly Action[],
  observed: Observed,
  deps: ApplyDeps,
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
  { deliveryWorker }: ApplyDeps,
) {
  const occurrence = occurrences.find((candidate) => candidate.event === event)
  if (occurrence) deliveryWorker.send({ screenshot, occurrence, webhook, attempt, progress })
}

async function record(changes: DeliveryStateChange[], observed: Observed, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const { screenshot, progress } = observed
  const { name } = screenshot.metadata
  const failed = changes.filter(({ after }) => after.state === 'failed')
  if (failed.length > 0) await keepMissed(observed, failed, deps)
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
    // A change without a status code is not the result of a post: it records the next attempt, or gives up.
    if (change.statusCode !== undefined) progress.delete(change.event, change.webhook)
    reportChange(observed, change, deps)
  }
}

/** Without the bucket, these deliveries cannot be redelivered, but results must be recorded. */
async function keepMissed(observed: Observed, failed: readonly DeliveryStateChange[], deps: ApplyDeps): Promise<void> {
  try {
    await deps.keepMissed(observed, failed)
  } catch (error) {
    deps.log.warn({ key: keyOf(observed.screenshot), err: error }, 'missed delivery not stored; it cannot be redelivered with others')
  }
}

/** Deletes a Screenshot whose deletion waited for its deliveries. Its files are removed as with any deletion. */
async function remove(observed: Observed, { clients, reflectors, keepOpen, log }: ApplyDeps, signal: AbortSignal): Promise<void> {
  const { screenshot } = observed
  await keepOpen(observed)
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
  { statistics, log, metrics, findWebhook, deliveryLog }: ApplyDeps,
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
  deliveryLog: Pick<DeliveryLog, 'note'>,
): void {
  if (!webhook) return
  const id = eventIdOf(screenshot, type)
  deliveryLog.note(webhook, {
    delivery: toDeliveryId({ at: eventTimeOf(screenshot, type) }, { id }, webhook),
    event: id,
    type,
    screenshot: screenshotIdOf(screenshot.metadata),
    ...toWithdrawal(after.attempts, after.at),
  })
}
