import { z } from 'zod'
import {
  AttemptRecord,
  DeliveryRecord,
  DeliveryFound as FoundDelivery,
  DeliveryList as ListOfDeliveries,
  RedeliveryAccepted as Taken,
} from '../../translate/webhooks/delivery-record.ts'
import {
  WebhookChanged as Changed,
  WebhookFound as Found,
  WebhookList as List,
  SecretRotated,
  WebhookTestResult as TestResult,
  WebhookRecord,
  WebhookWithSecret,
} from '../../translate/webhooks/webhook-record.ts'
import { name } from './naming.ts'

name('Webhook', WebhookRecord)

// A replay of a creation has no secret to show: it is sealed by then.
const Created = WebhookWithSecret.partial({ signing_secret: true }).describe(
  'A webhook endpoint with its signing secret, shown now and never again; not in a replayed response.',
)

export const WebhookCreated = name('WebhookCreated', z.object({ message: z.string(), data: Created }).describe('A webhook was made.'))
export const WebhookChanged = name('WebhookChanged', Changed.describe('A webhook was changed.'))
export const WebhookFound = name('WebhookFound', Found.describe('One webhook, with what became of its deliveries.'))
export const WebhookList = name('WebhookList', List.describe('A page of webhooks, oldest first.'))
export const SigningSecretRotated = name(
  'SigningSecretRotated',
  SecretRotated.describe('The new signing secret, shown now and never again.'),
)

name('DeliveryAttempt', AttemptRecord)
name('Delivery', DeliveryRecord)

export const WebhookTestResult = name('WebhookTestResult', TestResult.describe('How the endpoint responded to a test event.'))
export const DeliveryFound = name('DeliveryFound', FoundDelivery.describe('One delivery.'))
export const DeliveryList = name('DeliveryList', ListOfDeliveries.describe('A page of deliveries, newest attempt first.'))
export const RedeliveryAccepted = name('RedeliveryAccepted', Taken.describe('The event will be posted once more.'))
