// rbac: tintype.dev/webhooks get,list,watch,patch
// (patch: disabling an endpoint that has failed for days)
// rbac: tintype.dev/webhooks/status patch
// rbac: /secrets get,create

/**
 * This controller observes Webhooks and prepares them for deliveries. It creates the Secret that signs events, unless the spec has a sealed
 * one, and writes conditions, subscriptions and the time from which events are posted. It disables an endpoint that has failed for days.
 * It requeues while the Secret of a deleted Webhook still exists, and the delivery controller enqueues a Webhook whose posts pause or resume.
 * It sends no requests outside the cluster.
 */

import { classifyUrl, type EgressRules } from '@tintype/crds/addresses/address-rules'
import { newSigningSecret } from '@tintype/crds/crypto/signatures'
import { Annotation, API_VERSION } from '@tintype/crds/identifiers/names'
import { Webhook, webhookDefinition } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import { findNameProblem } from '@tintype/crds/schema/custom-resource'
import type { Controller, Requeue } from '../../controller-runtime/controller.ts'
import { patchSeen, patchStatus } from '../../kube/clients.ts'
import { findLive, readObject } from '../../kube/read-object.ts'
import { ACCOUNT_INDEX } from '../../kube/reflectors.ts'
import { createController, type TermDeps } from '../../runtime/deps.ts'
import { createSecret } from '../../secrets/ensure-secret.ts'
import { type Action, affectedKeys, decide, GONE_REASON, isBeyondLimit, LABEL_MISSING, type Observed, type StatusPatch } from './decide.ts'
import { buildSigningSecret, canOpen, evaluateSecret, signingSecretName, toUnlabeledSecret } from './signing-secret.ts'

const WORKERS = 4

/** What the controller uses during one term. */
interface WebhookContext extends TermDeps {
  rules: EgressRules
  /** A circuit is open while posts to the webhook with that key are paused. */
  circuitBreakers: { isOpen: (webhookKey: string) => boolean }
}

/** Creates the controller of one term. */
export function createWebhookController(context: WebhookContext): Controller {
  const { webhooks } = context.reflectors
  const controller = createController('webhook', { workers: WORKERS }, (key, signal) => reconcile(key, context, signal), context)
  controller.watch(webhooks, (event) => affectedKeys(event, webhooks.lister.byIndex(ACCOUNT_INDEX, accountOf(event.object))))
  return controller
}

/** Reconciles one Webhook. */
async function reconcile(key: string, deps: WebhookContext, signal: AbortSignal): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  if (!observed) return undefined
  return apply(decide(observed, deps.now(), deps.config.webhook), observed.webhook, deps, signal)
}

/**
 * Reads a Webhook from the cache and its Secret from the API server, unless its spec contains the secret. Undefined when the Webhook was
 * deleted.
 */
export async function observe(key: string, deps: WebhookContext): Promise<Observed | undefined> {
  const { rules, circuitBreakers } = deps
  const { lister } = deps.reflectors.webhooks
  const cached = await findLive(key, { lister, client: deps.clients.webhooks }, deps.now())
  if (!cached) return undefined
  const webhook = readObject('Webhook', Webhook, cached)
  return {
    webhook,
    ...(await findSecret(webhook, deps)),
    url: webhook.spec.isDefault ? { allowed: true } : classifyUrl(webhook.spec.url, rules),
    isCircuitOpen: circuitBreakers.isOpen(key),
    isBeyondLimit: isBeyondLimit(webhook, lister.byIndex(ACCOUNT_INDEX, accountOf(webhook))),
  }
}

async function findSecret(webhook: Webhook, { clients, keys, now }: WebhookContext): Promise<Pick<Observed, 'secret' | 'unlabeledSecret'>> {
  if (webhook.spec.signingSecrets) return { secret: (await canOpen(webhook, keys.openingKeys, now())) ? 'sealed' : 'unreadable' }
  const { name } = webhook.metadata
  if (findNameProblem(webhookDefinition, name) !== undefined) return { secret: 'unnamable' }
  const found = await clients.secrets.find(signingSecretName(name))
  return { secret: evaluateSecret(found, webhook), unlabeledSecret: found && toUnlabeledSecret(found, webhook) }
}

/** Executes the actions in order: the Secret is created before the status names it. */
async function apply(
  actions: readonly Action[],
  webhook: Webhook,
  deps: WebhookContext,
  signal: AbortSignal,
): Promise<Requeue | undefined> {
  let requeue: Requeue | undefined
  for (const action of actions) {
    if (action.do === 'createSecret') await createSecret(deps.clients.secrets, buildSigningSecret(webhook, newSigningSecret()), signal)
    else if (action.do === 'disable') await disable(webhook, action, deps, signal)
    else if (action.do === 'forgetDisabledReason') await patchSeen(deps.clients.webhooks, webhook, FORGET_REASON, { signal })
    else if (action.do === 'patchStatus') await writeStatus(webhook, action.status, deps, signal)
    else requeue = { requeueAfterMilliseconds: action.afterMilliseconds }
  }
  return requeue
}

/** Writes spec.active and the reason in one update, so that neither is visible without the other. */
async function disable(
  webhook: Webhook,
  { reason, at }: Action & { do: 'disable' },
  deps: WebhookContext,
  signal: AbortSignal,
): Promise<void> {
  const annotations = { [Annotation.disabledReason]: reason, [Annotation.updatedAt]: at.toISOString() }
  const written = await patchSeen(deps.clients.webhooks, webhook, { metadata: { annotations }, spec: { active: false } }, { signal })
  if (written) deps.events.warn(regarding(webhook), 'WebhookDisabled', `The endpoint was disabled: ${reason}.`)
}

const regarding = (webhook: Webhook) => ({ apiVersion: API_VERSION, kind: 'Webhook', ...webhook })

const FORGET_REASON = { metadata: { annotations: { [Annotation.disabledReason]: null } } }

async function writeStatus(webhook: Webhook, status: StatusPatch, deps: WebhookContext, signal: AbortSignal): Promise<void> {
  if (await patchStatus(deps.clients.webhooks, webhook, status, signal)) reportProblems(webhook, status, deps)
}

const REPORTED = [
  { type: ConditionType.answering, reason: GONE_REASON, event: 'EndpointGone' },
  { type: ConditionType.secretLabeled, reason: LABEL_MISSING, event: LABEL_MISSING },
]

/** Records one Event when the endpoint begins to return 410, and one when a Secret without a label is found. */
function reportProblems(webhook: Webhook, { conditions }: StatusPatch, { events }: WebhookContext): void {
  for (const { type, reason, event } of REPORTED) {
    const now = findCondition(conditions, type)
    if (now?.reason === reason && findCondition(webhook.status?.conditions, type)?.reason !== reason)
      events.warn(regarding(webhook), event, now.message)
  }
}
