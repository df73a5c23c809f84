import { z } from 'zod'
import { Annotation } from '../identifiers/names.ts'
import { Conditions } from '../schema/conditions.ts'
import {
  type Definition,
  displayName,
  instant,
  isBeingDeleted,
  MAX_OBJECT_NAME_LENGTH,
  Metadata,
  objectName,
} from '../schema/custom-resource.ts'
import { EVENT_TYPES } from '../schema/event-types.ts'
import { EndpointUrl, MAX_SHORT_URL } from '../schema/fields.ts'

// What a Webhook's status reports about requested posts (webhook-requests.ts).

/** The outcome of a requested post. */
export const PostResponse = z.object({
  time: instant('When the post ended.'),
  success: z.boolean().describe('True for a 2xx response before the timeout.'),
  statusCode: z.int().min(0).max(999).describe('HTTP status of the response; 0 if there was none.'),
  responseMilliseconds: z.int().min(0).describe('Milliseconds until the response, or until the timeout.'),
  error: z.string().max(256).describe('Why the post failed, at most 256 characters.').optional(),
})
export type PostResponse = z.infer<typeof PostResponse>

/** Characters of {@link Annotation.testRequested} that are compared. */
export const MAX_REQUEST_TEXT = 64

/** The outcome of a test that a person requested. */
const ManualTest = PostResponse.extend({
  request: z.string().max(MAX_REQUEST_TEXT).describe(`Text of the annotation ${Annotation.testRequested} that requested the test.`),
})

/** Maximum requests of one Webhook that are read. Requesters create far fewer. */
export const MAX_REQUESTS = 64

export const WebhookSpec = z.object({
  accountName: objectName('Account whose events are posted. Default: default.').optional(),
  name: displayName('Name for people, at most 100 characters.').optional(),
  url: EndpointUrl.describe('URL to post events to: https, without user name, password or fragment, at most 2048 characters.'),
  events: z
    .array(z.enum(EVENT_TYPES))
    .min(1)
    .max(16)
    .meta({ 'x-kubernetes-list-type': 'set' })
    .describe('Event types to post, at least one.'),
  description: z.string().max(500).describe('Description for people, at most 500 characters.').optional(),
  isDefault: z
    .boolean()
    .describe(
      'If true, this Webhook signs and counts the posts to the webhookUrl of its account’s Screenshots, and receives no posts itself.',
    )
    .optional(),
  active: z.boolean().describe('False stops deliveries. Default: true.').optional(),
  signingSecrets: z
    .array(
      z.object({
        sealed: z.string().max(2048).describe('Secret, encrypted for the operator (JWE) and bound to this Webhook.'),
        hint: z.string().max(32).describe('Part of the secret that may be shown.').optional(),
        expiryTime: instant('Time at which the secret expires; absent for the current one.').optional(),
      }),
    )
    .min(1)
    .max(2)
    .describe('Signing secrets, the current one first. If absent, the operator creates one in a Secret. Set by the gateway only.')
    .optional(),
})
export type WebhookSpec = z.infer<typeof WebhookSpec>

/** The operator adds it to the name of a Webhook to name its Secret. */
export const SIGNING_SECRET_SUFFIX = '-signing-secret'

const count = (what: string) => z.int().min(0).describe(what)

export const WebhookStatistics = z.object({
  total: count('Number of deliveries, ended or open.'),
  successful: count('Number of deliveries with a 2xx response.'),
  failed: count('Number of deliveries without further attempts.'),
  lastStatusCode: z.int().min(0).max(999).describe('HTTP status of the last response; 0 if there was none.').optional(),
  lastDeliveryTime: instant('Time at which the last attempt ended.').optional(),
  lastSuccessTime: instant('Time of the last 2xx response.').optional(),
  lastFailureTime: instant('Time of the last failed attempt.').optional(),
  failingSince: instant('Time of the first failed attempt since the last success. Reset after a day without a failure.').optional(),
  consecutiveFailures: count('Number of failed attempts since the last success.').optional(),
  answers: count('Number of attempts with any response.').optional(),
  answerMilliseconds: count('Total time of these attempts in milliseconds.').optional(),
})
export type WebhookStatistics = z.infer<typeof WebhookStatistics>

export const WebhookStatus = z.object({
  url: z.string().max(MAX_SHORT_URL).describe('URL of the spec, cut after 80 characters, for kubectl get.').optional(),
  activeSince: instant('Time since which events are posted: the creation, to the second, or the last activation.').optional(),
  subscriptions: z
    .record(z.string().max(64), instant('Time since which events of this type are posted.'))
    .meta({ maxProperties: 16 })
    .describe('Time since which events of each type are posted. Earlier events of an added type are not posted.')
    .optional(),
  signingSecretName: z
    .string()
    .max(MAX_OBJECT_NAME_LENGTH)
    .describe(
      'Name of the Secret that contains the signing secret in its key signing-secret. Absent: it is in the spec, or no Secret can be used.',
    )
    .optional(),
  unlabeledSecret: z
    .string()
    .max(128)
    .describe(
      'UID and account of the Secret that still signs without the label tintype.dev/account. Empty: it has the label, or is owned by this Webhook. Absent: not known.',
    )
    .optional(),
  statistics: WebhookStatistics.describe('Deliveries since creation.').optional(),
  lastTest: ManualTest.describe('Response to the test that a person requested.').optional(),
  responses: z
    .record(z.string().max(64), PostResponse)
    .meta({ maxProperties: MAX_REQUESTS })
    .describe('Responses to posts that the gateway requested. They are removed after the gateway has read them.')
    .optional(),
  conditions: Conditions.describe('Condition Ready, Answering after posts were paused, and SecretLabeled.').optional(),
})
export type WebhookStatus = z.infer<typeof WebhookStatus>

export const Webhook = z.object({ metadata: Metadata, spec: WebhookSpec, status: WebhookStatus.optional() })
export type Webhook = z.infer<typeof Webhook>

export const isActive = ({ metadata, spec }: Pick<Webhook, 'metadata' | 'spec'>): boolean =>
  spec.active !== false && !isBeingDeleted({ metadata })

export const webhookDefinition: Definition = {
  kind: 'Webhook',
  plural: 'webhooks',
  singular: 'webhook',
  shortNames: ['hook'],
  description: 'A Webhook is an https endpoint that signed events are posted to.',
  names: { maxLength: MAX_OBJECT_NAME_LENGTH - SIGNING_SECRET_SUFFIX.length },
  columns: [
    { name: 'Account', type: 'string', jsonPath: '.spec.accountName' },
    { name: 'URL', type: 'string', jsonPath: '.status.url', description: 'Beginning of spec.url.' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Sent', type: 'integer', jsonPath: '.status.statistics.successful' },
    { name: 'Failed', type: 'integer', jsonPath: '.status.statistics.failed' },
    { name: 'Last', type: 'integer', jsonPath: '.status.statistics.lastStatusCode', description: 'HTTP status of the last response.' },
    { name: 'Events', type: 'string', jsonPath: '.spec.events', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
  selectableFields: ['.spec.accountName'],
  spec: WebhookSpec.describe('URL that receives signed events, and the types of events.'),
  status: WebhookStatus.describe('State of the Webhook and its deliveries. Written by the operator.'),
}
