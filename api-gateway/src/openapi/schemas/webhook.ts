import { z } from 'zod'
import { name } from '../../http/named-schemas.ts'
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

name('Webhook', WebhookRecord)

// The stored secret is sealed, so a replayed response does not contain it.
const Created = WebhookWithSecret.partial({ signing_secret: true }).describe(
  'A webhook endpoint with its signing secret. Only the first response contains the secret, a replayed response does not.',
)

export const WebhookCreated = name('WebhookCreated', z.object({ message: z.string(), data: Created }).describe('The created webhook.'))
export const WebhookChanged = name('WebhookChanged', Changed.describe('The updated webhook.'))
export const WebhookFound = name('WebhookFound', Found.describe('A webhook and its delivery statistics.'))
export const WebhookList = name('WebhookList', List.describe('One page of webhooks, oldest first.'))
export const SigningSecretRotated = name('SigningSecretRotated', SecretRotated.describe('The new signing secret. It is shown only once.'))

name('DeliveryAttempt', AttemptRecord)
name('Delivery', DeliveryRecord)

export const WebhookTestResult = name('WebhookTestResult', TestResult.describe('How the endpoint responded to a test event.'))
export const DeliveryFound = name('DeliveryFound', FoundDelivery.describe('One delivery.'))
export const DeliveryList = name('DeliveryList', ListOfDeliveries.describe('One page of deliveries, newest attempt first.'))
export const RedeliveryAccepted = name('RedeliveryAccepted', Taken.describe('The redelivery of an event is queued.'))
