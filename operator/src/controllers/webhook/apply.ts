import { newSigningSecret } from '@tintype/crds/crypto/signatures'
import { Annotation, API_VERSION } from '@tintype/crds/identifiers/names'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { patchSeen, patchStatus } from '../../kube/patch-seen.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { createSecret } from '../../secrets/ensure-secret.ts'
import { type Action, GONE_REASON, LABEL_MISSING, type StatusPatch } from './decide.ts'
import { buildSigningSecret } from './signing-secret.ts'

export interface ApplyDeps extends Pick<TermDeps, 'clients'> {
  events: Pick<TermDeps['events'], 'warn'>
}

/** Executes the actions in order: the Secret is created before the status names it. */
export async function apply(
  actions: readonly Action[],
  webhook: Webhook,
  deps: ApplyDeps,
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
async function disable(webhook: Webhook, { reason, at }: Action & { do: 'disable' }, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const annotations = { [Annotation.disabledReason]: reason, [Annotation.updatedAt]: at.toISOString() }
  const written = await patchSeen(deps.clients.webhooks, webhook, { metadata: { annotations }, spec: { active: false } }, { signal })
  if (written) deps.events.warn(regarding(webhook), 'WebhookDisabled', `The endpoint was disabled: ${reason}.`)
}

const regarding = (webhook: Webhook) => ({ apiVersion: API_VERSION, kind: 'Webhook', ...webhook })

const FORGET_REASON = { metadata: { annotations: { [Annotation.disabledReason]: null } } }

async function writeStatus(webhook: Webhook, status: StatusPatch, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  if (await patchStatus(deps.clients.webhooks, webhook, status, signal)) reportProblems(webhook, status, deps)
}

const REPORTED = [
  { type: ConditionType.answering, reason: GONE_REASON, event: 'EndpointGone' },
  { type: ConditionType.secretLabeled, reason: LABEL_MISSING, event: LABEL_MISSING },
]

/** Records one Event when the endpoint begins to return 410, and one when a Secret without a label is found. */
function reportProblems(webhook: Webhook, { conditions }: StatusPatch, { events }: ApplyDeps): void {
  for (const { type, reason, event } of REPORTED) {
    const now = findCondition(conditions, type)
    if (now?.reason === reason && findCondition(webhook.status?.conditions, type)?.reason !== reason)
      events.warn(regarding(webhook), event, now.message)
  }
}
