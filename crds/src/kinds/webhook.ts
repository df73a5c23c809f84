import { z } from 'zod'
import { Conditions } from '../schema/conditions.ts'
import { type Definition, instant, Metadata, objectName } from '../schema/custom-resource.ts'
import { EVENT_TYPES } from '../schema/event-types.ts'
import { EndpointUrl, MAX_SHORT_URL } from '../schema/urls.ts'
import { MAX_REQUESTS, ManualTest, PostResponse } from './post-response.ts'

export const WebhookSpec = z.object({
  accountName: objectName('Account whose events are sent. Default: default.').optional(),
  name: z.string().min(1).max(100).describe('Name for people, at most 100 characters.').optional(),
  url: EndpointUrl.describe('Address to post to: https, without user name, password and fragment, at most 2048 characters.'),
  events: z
    .array(z.enum(EVENT_TYPES))
    .min(1)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'set' })
    .describe('Event types to send, at least one.'),
  description: z.string().max(500).describe('For people, at most 500 characters.').optional(),
  isDefault: z
    .boolean()
    .describe('True: it is posted to nowhere itself; it signs and counts what Screenshots of its account have posted to their webhookUrl.')
    .optional(),
  active: z.boolean().describe('False stops deliveries. Default: true.').optional(),
  signingSecrets: z
    .array(
      z.object({
        sealed: z.string().max(2048).describe('The secret, encrypted to the operator (JWE) and bound to this Webhook.'),
        hint: z.string().max(32).describe('What may be shown of it.').optional(),
        expiryTime: instant('When it stops being used; absent: the current one.').optional(),
      }),
    )
    .min(1)
    .max(2)
    .describe('Signing secrets, the current one first; set by the gateway only. Absent: the operator makes one in a Secret.')
    .optional(),
})
export type WebhookSpec = z.infer<typeof WebhookSpec>

const count = (what: string) => z.int().min(0).describe(what)

export const WebhookStatistics = z.object({
  total: count('Deliveries ended or open.'),
  successful: count('Deliveries answered with 2xx.'),
  failed: count('Deliveries given up.'),
  lastStatusCode: z.int().min(0).max(999).describe('HTTP status of the last answer; 0 when there was none.').optional(),
  lastDeliveryTime: instant('When the last attempt ended.').optional(),
  lastSuccessTime: instant('When an attempt was last answered with 2xx.').optional(),
  lastFailureTime: instant('When an attempt last failed.').optional(),
  failingSince: instant(
    'First of the attempts that have failed since the last success; counted anew after a day without a failure.',
  ).optional(),
  consecutiveFailures: count('Attempts that have failed since the last success.').optional(),
  answers: count('Attempts that were answered, whatever the answer.').optional(),
  answerMilliseconds: count('Milliseconds that all of them took together.').optional(),
})
export type WebhookStatistics = z.infer<typeof WebhookStatistics>

export const WebhookStatus = z.object({
  url: z.string().max(MAX_SHORT_URL).describe('The URL of the spec, cut after 80 characters; derived, for printing.').optional(),
  activeSince: instant('Since when events are sent: the creation, to the second, or when it was last switched on.').optional(),
  subscriptions: z
    .record(z.string().max(64), instant('Since when events of this type are sent.'))
    .meta({ maxProperties: 16 })
    .describe('Since when events of each type are sent: a type added later brings nothing from before.')
    .optional(),
  signingSecretName: z
    .string()
    .max(253)
    .describe('Secret, owned by this Webhook, whose key signing-secret holds the signing secret.')
    .optional(),
  statistics: WebhookStatistics.describe('Deliveries since creation.').optional(),
  lastTest: ManualTest.describe('Response to the test that a person requested.').optional(),
  responses: z
    .record(z.string().max(64), PostResponse)
    .meta({ maxProperties: MAX_REQUESTS })
    .describe('Responses to posts that the gateway requested, until it has read them.')
    .optional(),
  conditions: Conditions.describe('Ready, and Answering once posts had to be paused.').optional(),
})
export type WebhookStatus = z.infer<typeof WebhookStatus>

export const Webhook = z.object({ metadata: Metadata, spec: WebhookSpec, status: WebhookStatus.optional() })
export type Webhook = z.infer<typeof Webhook>

export const isActive = ({ spec }: Pick<Webhook, 'spec'>): boolean => spec.active !== false

export const webhookDefinition: Definition = {
  kind: 'Webhook',
  plural: 'webhooks',
  singular: 'webhook',
  shortNames: ['hook'],
  description: 'A Webhook is an https endpoint that signed events are posted to.',
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'Beginning of spec.url.' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Sent', type: 'integer', jsonPath: '.status.statistics.successful' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.statistics.failed' },
    { name: 'Last', type: 'integer', jsonPath: '.status.statistics.lastStatusCode', description: 'HTTP status of the last answer.' },
    { name: 'Events', type: 'string', jsonPath: '.spec.events', priority: 1 },
    { name: 'Account', type: 'string', jsonPath: '.spec.accountName', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  spec: WebhookSpec.describe('The URL that signed events are posted to, and which events.'),
  status: WebhookStatus.describe('Whether events are posted, and how the last ones were received. Written by the operator.'),
}
