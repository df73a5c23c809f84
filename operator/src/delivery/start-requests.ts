import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { DeliveryOptions } from './delivery.ts'
import { DeliveryLog } from './log.ts'
import { RecordedEvents } from './recorded-events.ts'
import { postAsRequested, type RequestPostDeps } from './request-post.ts'
import { Requests, type RequestsOptions } from './requests.ts'

type Given = Pick<DeliveryOptions, 'screenshots' | 'webhooks' | 'storage' | 'linkBase' | 'version' | 'log' | 'controllerMetrics'>
type Shared = Pick<RequestPostDeps, 'post' | 'signingSecrets' | 'onMissingSecret' | 'now' | 'deliveryLog'> &
  Pick<RequestsOptions, 'store' | 'lanes' | 'mayPost'>

/** The log of one term; none without a bucket. */
export const openDeliveryLog = ({ storage, log }: Pick<Given, 'storage' | 'log'>, now: () => Date): DeliveryLog | undefined =>
  storage && new DeliveryLog({ storage, now, log })

/** Starts the controller that posts what is asked for. */
export function startRequests(given: Given, shared: Shared): Requests {
  const { screenshots, webhooks, storage, linkBase } = given
  const recordedEvents = new RecordedEvents({ screenshots: screenshots.lister, storage, linkBase })
  const deps = { ...given, ...shared, recordedEvents }
  return new Requests({ ...given, ...shared, webhooks, perform: (webhook: Webhook, request) => postAsRequested(webhook, request, deps) })
}
