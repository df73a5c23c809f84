import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { ignoreSilently } from '@tintype/crds/records/ignored-objects'
import { eventIdOf, eventTimeOf } from '@tintype/crds/webhooks/events'
import type { DeliveryStateChange } from './decide.ts'
import { toDeliveryId } from './delivery-worker.ts'
import { RecordedEvents } from './events/recorded-events.ts'
import type { DeliveryOptions } from './options.ts'
import { PostRequests, type PostRequestsOptions } from './requests/controller.ts'
import { postAsRequested, type RequestPostDeps } from './requests/requested-post.ts'
import { DeliveryLog } from './telemetry/delivery-log.ts'

type RequestsOptions = Pick<
  DeliveryOptions,
  'screenshots' | 'webhooks' | 'storage' | 'linkBase' | 'version' | 'log' | 'controllerMetrics' | 'metrics' | 'report'
>
type Shared = Pick<RequestPostDeps, 'post' | 'signingSecrets' | 'onMissingSecret' | 'now' | 'deliveryLog'> &
  Pick<PostRequestsOptions, 'store' | 'limiter' | 'mayPost'>

/** The delivery log of one term; undefined without a bucket. */
export const openDeliveryLog = (
  { storage, log, report = ignoreSilently }: Pick<RequestsOptions, 'storage' | 'log' | 'report'>,
  now: () => Date,
): DeliveryLog | undefined => storage && new DeliveryLog({ storage, now, log, report })

/** Logs that an endpoint no longer wanted an event; otherwise the delivery would stay pending in the log. */
export function noteWithdrawal(
  webhook: Webhook | undefined,
  screenshot: Screenshot,
  { event: type, after }: DeliveryStateChange,
  deliveryLog: Pick<DeliveryLog, 'note'> | undefined,
): void {
  if (!webhook) return
  const id = eventIdOf(screenshot, type)
  deliveryLog?.note(webhook, {
    delivery: toDeliveryId({ at: eventTimeOf(screenshot, type) }, { id }, webhook),
    event: id,
    type,
    screenshot: screenshotIdOf(screenshot.metadata),
    attempt: after.attempts,
    last: true,
    at: after.at,
    milliseconds: 0,
    statusCode: 0,
    outcome: 'withdrawn',
  })
}

/** Starts the controller of requested posts. */
export function startRequests(requestsOptions: RequestsOptions, shared: Shared): PostRequests {
  const { screenshots, webhooks, storage, linkBase, report } = requestsOptions
  const recordedEvents = new RecordedEvents({ screenshots: screenshots.lister, storage, linkBase, report, now: shared.now })
  const deps = { ...requestsOptions, ...shared, recordedEvents }
  return new PostRequests({
    ...requestsOptions,
    ...shared,
    webhooks,
    perform: (webhook: Webhook, request) => postAsRequested(webhook, request, deps),
  })
}
