import { isAlreadyExists, isInvalid, isNotFound } from '@tintype/crds/client/kube-error'
import { mergePatch } from '@tintype/crds/client/patch'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import { newSigningSecret } from '@tintype/crds/crypto/webhook-signature'
import { Annotation, API_VERSION } from '@tintype/crds/identifiers/names'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { ConditionType, findCondition } from '@tintype/crds/schema/conditions'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { RetryableError, TerminalError } from '../../controller-runtime/errors.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { SecretStore } from '../../secrets/ensure-secret.ts'
import { type Action, GONE_REASON, type StatusPatch } from './decide.ts'
import { buildSigningSecret } from './signing-secret.ts'

export interface ApplyDeps {
  store: Pick<Resource<Webhook>, 'patch'>
  /** Lets the cache see an own write at once. */
  seen: Pick<Reflector<Webhook>, 'observe'>
  secrets: SecretStore
  /** Absent: no Kubernetes Events are recorded. */
  events?: Pick<EventRecorder, 'warn'> | undefined
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
    if (action.do === 'createSecret') await createSecret(webhook, deps, signal)
    else if (action.do === 'disable') await disable(webhook, action, deps, signal)
    else if (action.do === 'forgetDisabledReason') await patch(webhook, FORGET_REASON, deps, signal)
    else if (action.do === 'patchStatus') await patchStatus(webhook, action.status, deps, signal)
    else requeue = { requeueAfterMilliseconds: action.afterMilliseconds }
  }
  return requeue
}

async function createSecret(webhook: Webhook, { secrets }: ApplyDeps, signal: AbortSignal): Promise<void> {
  try {
    await secrets.create(buildSigningSecret(webhook, newSigningSecret()), { namespace: webhook.metadata.namespace, signal })
  } catch (error) {
    if (isAlreadyExists(error)) throw new RetryableError('a Secret with this name was just created', { cause: error })
    if (isInvalid(error)) throw new TerminalError('InvalidSecret', 'the API server rejected the signing secret', { cause: error })
    throw error
  }
}

/** Writes spec.active and the reason in one update, so that neither is visible without the other. */
async function disable(webhook: Webhook, { reason, at }: Action & { do: 'disable' }, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const annotations = { [Annotation.disabledReason]: reason, [Annotation.updatedAt]: at.toISOString() }
  const isDone = await patch(webhook, { metadata: { annotations }, spec: { active: false } }, deps, signal)
  if (isDone) deps.events?.warn(regarding(webhook), 'WebhookDisabled', `The endpoint was disabled: ${reason}.`)
}

const regarding = (webhook: Webhook) => ({ apiVersion: API_VERSION, kind: 'Webhook', ...webhook })

const FORGET_REASON = { metadata: { annotations: { [Annotation.disabledReason]: null } } }

/** Returns false when the webhook was deleted. */
async function patch(webhook: Webhook, body: object, { store, seen }: ApplyDeps, signal: AbortSignal): Promise<boolean> {
  const { name, namespace, resourceVersion } = webhook.metadata
  try {
    seen.observe(await store.patch(name, mergePatch({ ...body }, { resourceVersion }), { namespace, signal }))
    return true
  } catch (error) {
    if (isNotFound(error)) return false
    throw error
  }
}

async function patchStatus(webhook: Webhook, status: StatusPatch, deps: ApplyDeps, signal: AbortSignal): Promise<void> {
  const { store, seen } = deps
  const { name, namespace, resourceVersion } = webhook.metadata
  try {
    seen.observe(await store.patch(name, mergePatch({ status }, { resourceVersion }), { namespace, subresource: 'status', signal }))
    reportGone(webhook, status, deps)
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

/** Records one Event when the endpoint begins to return 410. */
function reportGone(webhook: Webhook, { conditions }: StatusPatch, { events }: ApplyDeps): void {
  const before = findCondition(webhook.status?.conditions, ConditionType.answering)
  const now = findCondition(conditions, ConditionType.answering)
  if (now?.reason === GONE_REASON && before?.reason !== GONE_REASON) events?.warn(regarding(webhook), 'EndpointGone', now.message)
}
