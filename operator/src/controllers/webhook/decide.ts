// Decides what a Webhook needs before events are posted: an allowed URL, a Secret for signatures, and the time from which it receives
// events. Pure.

import type { AddressDecision } from '@tintype/crds/addresses/address-rules'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { ReflectorEvent } from '@tintype/crds/client/reflector'
import { Annotation, Label } from '@tintype/crds/identifiers/names'
import { MAX_DELIVERIES } from '@tintype/crds/kinds/screenshot'
import { isActive, type Webhook, type WebhookStatus, webhookDefinition } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { type Condition, ConditionType, findCondition, setCondition } from '@tintype/crds/schema/conditions'
import { findNameProblem } from '@tintype/crds/schema/custom-resource'
import { toShortUrl } from '@tintype/crds/schema/fields'
import { canonical } from '@tintype/crds/text/json'
import { type SecretState, signingSecretName } from './signing-secret.ts'

export interface Observed {
  webhook: Webhook
  secret: SecretState
  /** What the status says of the Secret if the webhook keeps it. */
  unlabeledSecret?: string | undefined
  /** Result of the address rules for the URL, without DNS resolution. */
  url: AddressDecision
  /** True while posts are paused because most recent ones failed. */
  isCircuitOpen?: boolean
  /** True when the account has more webhooks than may receive one event, and this is not one of the oldest. */
  isBeyondLimit?: boolean
}

/** Status fields to write; `null` removes a field, as in a merge patch. */
export interface StatusPatch {
  url: string
  activeSince: string | null
  subscriptions: Record<string, string | null> | null
  signingSecretName: string | null
  unlabeledSecret: string | null
  conditions: Condition[]
}

export type Action =
  | { do: 'createSecret' }
  | { do: 'disable'; reason: string; at: Date }
  | { do: 'forgetDisabledReason' }
  | { do: 'patchStatus'; status: StatusPatch }
  | { do: 'requeue'; afterMilliseconds: number }

type Finding = Pick<Condition, 'status' | 'reason' | 'message'>

const SEALED = 'Events are posted, signed with the secret that the REST API returned.'
const IN_A_SECRET = 'Events are posted, signed with the key in the Secret.'

const PAUSED = {
  reason: 'CircuitOpen',
  message: 'Most recent posts failed, so attempts may start up to 30 s late. No event is lost.',
}
/** Reason of the condition Answering after a 410. */
export const GONE_REASON = 'Gone'
const GONE = {
  reason: GONE_REASON,
  message:
    'The last response was 410 Gone: the receiver was deleted. Each event is still posted three times. Update spec.url, set spec.active to false, or delete the Webhook.',
}
const HTTP_GONE = 410
const RESUMED = { reason: 'Answering', message: 'Posts start when they are due.' }

/** Times until a Secret is read again, which the operator may not watch. The garbage collector deletes that of a deleted webhook. */
const REREAD_MILLISECONDS: Partial<Record<SecretState, number>> = { leftover: 2_000, foreign: 15_000, unlabeled: 15_000, kept: 30_000 }

/** A change of the object itself is the only action: the next reconcile decides the rest. */
export function decide(observed: Observed, now: Date, settings: DisableSettings = {}): Action[] {
  const { webhook, secret } = observed
  const reason = findDisabledReason(webhook, settings, now)
  if (reason !== undefined) return [{ do: 'disable', reason, at: now }]
  if (isActive(webhook) && disabledReasonOf(webhook) !== undefined) return [{ do: 'forgetDisabledReason' }]
  const obstacle = findObstacle(observed)
  const finding = obstacle ?? { status: 'True', reason: 'Active', message: secret === 'sealed' ? SEALED : IN_A_SECRET }
  const status = toStatus(observed, finding, now)
  const afterMilliseconds = REREAD_MILLISECONDS[secret]
  return [
    ...(obstacle === undefined && secret === 'missing' ? [{ do: 'createSecret' as const }] : []),
    ...(isSame(webhook.status, status) ? [] : [{ do: 'patchStatus' as const, status }]),
    ...(afterMilliseconds === undefined ? [] : [{ do: 'requeue' as const, afterMilliseconds }]),
  ]
}

const disabledReasonOf = ({ metadata }: Webhook): string | undefined => metadata.annotations?.[Annotation.disabledReason]

function findObstacle({ webhook, secret, url, isBeyondLimit }: Observed): Finding | undefined {
  const name = signingSecretName(webhook.metadata.name)
  if (!isActive(webhook)) {
    const why = disabledReasonOf(webhook)
    if (why === undefined) return { status: 'False', reason: 'Inactive', message: 'spec.active is false, so no events are posted.' }
    return { status: 'False', reason: 'Disabled', message: `Disabled: ${why}. Fix the endpoint, then set spec.active to true.` }
  }
  if (!url.allowed) return { status: 'False', reason: 'AddressRefused', message: `${url.reason}. Use a public https URL.` }
  if (isBeyondLimit) {
    const message = `The account has ${MAX_RECEIVERS} older active webhooks, which is the limit for one event. Delete one of them.`
    return { status: 'False', reason: 'TooManyWebhooks', message }
  }
  if (secret === 'unreadable') {
    return {
      status: 'False',
      reason: 'SecretUnreadable',
      message: 'The sealed signing secret cannot be opened. Rotate it, or recreate the Webhook.',
    }
  }
  if (secret === 'unnamable') {
    const message = `${findNameProblem(webhookDefinition, webhook.metadata.name)}. No Secret can have the name ${name}. Create the Webhook again.`
    return { status: 'False', reason: 'InvalidName', message }
  }
  if (secret === 'foreign') {
    return { status: 'False', reason: 'SecretConflict', message: `The Secret ${name} is not a signing secret. Rename it or the Webhook.` }
  }
  if (secret === 'unlabeled') {
    const message = `The Secret ${name} may be of another account. If it is yours, set its label: ${toLabelCommand(webhook)}. Otherwise rename the Webhook.`
    return { status: 'False', reason: LABEL_MISSING, message }
  }
  if (secret === 'leftover') {
    return {
      status: 'False',
      reason: 'SecretLeftover',
      message: `The Secret ${name} of a deleted Webhook still exists. Kubernetes deletes it soon.`,
    }
  }
  return undefined
}

/** Reason of the conditions Ready and SecretLabeled. */
export const LABEL_MISSING = 'SecretLabelMissing'

const toLabelCommand = ({ metadata, spec }: Webhook): string =>
  `kubectl -n ${metadata.namespace} label --overwrite secret ${signingSecretName(metadata.name)} ${Label.account}=${accountOf({ spec })}`

/** Sets the condition while an unlabeled Secret signs, and from then on. */
function toLabeled(conditions: Condition[], { webhook, secret }: Observed, now: Date): Condition[] {
  const type = ConditionType.secretLabeled
  const command = toLabelCommand(webhook)
  const message = `Events are still signed with the Secret ${signingSecretName(webhook.metadata.name)}, which lacks the label of its account. Set it: ${command}.`
  if (secret === 'kept') return setCondition(conditions, { type, status: 'False', reason: LABEL_MISSING, message }, now)
  const labeled = { reason: 'Labeled', message: 'No Secret without the label signs events.' }
  return findCondition(conditions, type) ? setCondition(conditions, { type, status: 'True', ...labeled }, now) : conditions
}

/** What the status says of the Secret: nothing if it cannot be used, or the next one of its name would seem to have been used before. */
function toSecretStatus({ webhook, secret, unlabeledSecret = '' }: Observed, { status }: Finding) {
  const isLabeled = secret === 'usable' || (secret === 'missing' && status === 'True')
  if (!isLabeled && secret !== 'kept') return { signingSecretName: null, unlabeledSecret: null }
  return { signingSecretName: signingSecretName(webhook.metadata.name), unlabeledSecret: isLabeled ? '' : unlabeledSecret }
}

function toStatus(observed: Observed, finding: Finding, now: Date): StatusPatch {
  const { webhook, isCircuitOpen = false } = observed
  const { metadata, spec, status = {} } = webhook
  const observedGeneration = metadata.generation ?? 0
  const url = toShortUrl(spec.url)
  const ready = setCondition(status.conditions ?? [], { type: ConditionType.ready, observedGeneration, ...finding }, now)
  const conditions = toLabeled(toAnswering(ready, { isCircuitOpen, isGone: isGone(status) }, now), observed, now)
  const ofSecret = toSecretStatus(observed, finding)
  if (finding.status === 'False') {
    return { url, activeSince: null, subscriptions: null, ...ofSecret, conditions }
  }
  const activeSince = status.activeSince ?? firstInstant(webhook, now).toISOString()
  const known = status.subscriptions ?? {}
  const fresh = status.activeSince === undefined ? activeSince : now.toISOString()
  const kept = spec.events.map((event) => [event, known[event] ?? fresh])
  const dropped = Object.keys(known).flatMap((event) => (spec.events.some((wanted) => wanted === event) ? [] : [[event, null]]))
  return {
    url,
    activeSince,
    subscriptions: Object.fromEntries([...kept, ...dropped]),
    ...ofSecret,
    conditions,
  }
}

/** An automation service returns 410 when a person has deleted the receiver. */
const isGone = ({ statistics }: WebhookStatus): boolean =>
  statistics?.lastStatusCode === HTTP_GONE && (statistics.consecutiveFailures ?? 0) > 0

/** Sets the condition from the first problem on. Endpoints that always responded do not have it. */
function toAnswering(
  conditions: Condition[],
  { isCircuitOpen, isGone }: { isCircuitOpen: boolean; isGone: boolean },
  now: Date,
): Condition[] {
  const type = ConditionType.answering
  if (isGone) return setCondition(conditions, { type, status: 'False', ...GONE }, now)
  if (isCircuitOpen) return setCondition(conditions, { type, status: 'False', ...PAUSED }, now)
  return findCondition(conditions, type) ? setCondition(conditions, { type, status: 'True', ...RESUMED }, now) : conditions
}

/**
 * Start time of a webhook. delivery/events/event-order.ts has the exact order. A new webhook starts at its creation, to the second. One
 * that was enabled again, or whose problem was solved, starts now.
 */
function firstInstant({ metadata, status }: Webhook, now: Date): Date {
  const ready = findCondition(status?.conditions, ConditionType.ready)
  return ready === undefined || ready.reason === 'SecretLeftover' ? new Date(metadata.creationTimestamp) : now
}

function isSame(status: WebhookStatus | undefined, wanted: StatusPatch): boolean {
  const { url, activeSince = null, subscriptions = null, signingSecretName = null, unlabeledSecret = null, conditions = [] } = status ?? {}
  const present = { url, activeSince, subscriptions, signingSecretName, unlabeledSecret, conditions }
  return JSON.stringify(canonical(present)) === JSON.stringify(canonical(wanted))
}

// Decides when an endpoint has failed for so long that it is disabled. Pure.

/** Days of failures after which an endpoint is disabled; undefined: never. */
interface DisableSettings {
  disableAfterDays?: number | undefined
}

const HOUR_MILLISECONDS = 3_600_000
const DAY_MILLISECONDS = 24 * HOUR_MILLISECONDS
/** Minimum time between first and last failure: one night of failures is not enough, however many events there were. */
const MIN_SPREAD_MILLISECONDS = 12 * HOUR_MILLISECONDS
/** After this time without a failed post, failures count as sporadic. */
export const FAILURE_GAP_MILLISECONDS = DAY_MILLISECONDS

/**
 * Returns why a webhook must be disabled; undefined otherwise. Failures count since the last success, or since the webhook was activated if
 * that was later.
 */
export function findDisabledReason(webhook: Webhook, { disableAfterDays }: DisableSettings, now: Date): string | undefined {
  const { spec, status } = webhook
  const { activeSince, statistics } = status ?? {}
  // The default webhook has many unrelated URLs, so one dead URL must not disable it.
  if (spec.isDefault || disableAfterDays === undefined || !isActive(webhook) || activeSince === undefined) return undefined
  const { failingSince, lastFailureTime, lastStatusCode = 0, consecutiveFailures = 0 } = statistics ?? {}
  if (failingSince === undefined || lastFailureTime === undefined || consecutiveFailures === 0) return undefined
  const [first, last] = [Math.max(Date.parse(failingSince), Date.parse(activeSince)), Date.parse(lastFailureTime)]
  const isLongAgo = now.getTime() - first >= disableAfterDays * DAY_MILLISECONDS
  const isSporadic = last - first < MIN_SPREAD_MILLISECONDS || now.getTime() - last > FAILURE_GAP_MILLISECONDS
  if (!isLongAgo || isSporadic) return undefined
  const reason = lastStatusCode === 0 ? 'the last one got no response' : `the last response was ${lastStatusCode}`
  return `every post since ${new Date(first).toISOString()} failed; ${reason}`
}

// Limit of webhooks that receive one event. kubectl can create more webhooks than status.deliveries can hold. The oldest receive events; a
// condition of the others says why they do not.

/** Maximum number of an account's webhooks that receive one event. One more entry is reserved for the URL of the request. */
export const MAX_RECEIVERS = MAX_DELIVERIES - 1

const countsForLimit = (webhook: Webhook): boolean => isActive(webhook) && !webhook.spec.isDefault

const isOlder = (a: Webhook, b: Webhook): boolean =>
  a.metadata.creationTimestamp === b.metadata.creationTimestamp
    ? a.metadata.name < b.metadata.name
    : a.metadata.creationTimestamp < b.metadata.creationTimestamp

/** True when `siblings` (all of the account) contain so many older active webhooks that this one receives no events. */
export function isBeyondLimit(webhook: Webhook, siblings: readonly Webhook[]): boolean {
  if (siblings.length <= MAX_RECEIVERS || !countsForLimit(webhook)) return false
  const { namespace } = webhook.metadata
  const older = siblings.filter(
    (sibling) => sibling.metadata.namespace === namespace && countsForLimit(sibling) && isOlder(sibling, webhook),
  )
  return older.length >= MAX_RECEIVERS
}

/** Keys to reconcile after a change: the webhook itself and, above the limit, those of its account that may gain or lose a place. */
export function affectedKeys({ object, old, type }: ReflectorEvent<Webhook>, siblings: readonly Webhook[]): string[] {
  const isSame = type === 'modified' && old !== undefined && countsForLimit(old) === countsForLimit(object)
  return isSame || siblings.length < MAX_RECEIVERS ? [keyOf(object)] : [...new Set([keyOf(object), ...siblings.map(keyOf)])]
}
