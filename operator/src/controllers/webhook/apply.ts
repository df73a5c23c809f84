import { newSigningSecret } from '@tintype/crds/crypto/webhook-signature'
import { Annotation, API_VERSION } from '@tintype/crds/identifiers/names'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import type { Requeue } from '../../controller-runtime/controller.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { patchSeen, patchStatus, type Writer } from '../../kube/patch-seen.ts'
import { createSecret, type SecretStore } from '../../secrets/ensure-secret.ts'
import { type Action, GONE_REASON, type StatusPatch } from './decide.ts'
import { buildSigningSecret } from './signing-secret.ts'

export interface ApplyDeps extends Writer<Webhook> {
  secrets: SecretStore
  events: Pick<EventRecorder, 'warn'>
}

/** Executes the actions in order: the Secret is created before the status names it. */
export async function apply(
  actions: readonly Action[],
  webhook: Webhook,
  deps: ApplyDeps,
  signal: AbortSignal,
): Promise<Requeue | undefined> {
  const { namespace } = webhook.metadata
  let requeue: Requeue | undefined
  for (const action of actions) {
    if (action.do === 'createSecret')
      await createSecret(deps.secrets, buildSigningSecret(webhook, newSigningSecret()), { namespace, signal })
    else if (action.do === 'disable') await disable(webhook, action, deps, signal)
    else if (action.do === 'forgetDisabledReason') await patchSeen(webhook, FORGET_REASON, deps, { signal })
    else if (action.do === 'patchStatus') await writeStatus(webhook, action.status, deps, signal)
    else requeue = { requeueAfterMilliseconds: action.afterMilliseconds }
  }
  return requeue
}

/** Writes spec.active and the reason in one update, so that neither is visible without the other. */
async function disable(webhook: Webhook, { reason, at }: Action & { do: 'disable' }, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const annotations = { [Annotation.disabledReason]: reason, [Annotation.updatedAt]: at.toISOString() }
  const written = await patchSeen(webhook, { metadata: { annotations }, spec: { active: false } }, deps, { signal })
  if (written) deps.events.warn(regarding(webhook), 'WebhookDisabled', `The endpoint was disabled: ${reason}.`)
}

const regarding = (webhook: Webhook) => ({ apiVersion: API_VERSION, kind: 'Webhook', ...webhook })

const FORGET_REASON = { metadata: { annotations: { [Annotation.disabledReason]: null } } }

async function writeStatus(webhook: Webhook, status: StatusPatch, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  if (await patchStatus(webhook, status, deps, signal)) reportGone(webhook, status, deps)
}

/** Records one Event when the endpoint begins to return 410. */
function reportGone(webhook: Webhook, { conditions }: StatusPatch, { events }: ApplyDeps): void {
  const before = findCondition(webhook.status?.conditions, ConditionType.answering)
  const now = findCondition(conditions, ConditionType.answering)
  if (now?.reason === GONE_REASON && before?.reason !== GONE_REASON) events.warn(regarding(webhook), 'EndpointGone', now.message)
}
