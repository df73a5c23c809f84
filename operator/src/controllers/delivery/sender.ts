import { keyOf } from '@tintype/crds/client/kube-object'
import { webhookIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { AttemptFinding } from '@tintype/crds/webhooks/deliveries'
import { buildHeaders, type SignedPost } from './http/headers.ts'
import type { Post, PostOutcome } from './http/post.ts'
import type { SigningSecrets } from './http/signing-secrets.ts'
import { toFinding } from './telemetry/attempt-line.ts'
import { toTraceHeaders } from './telemetry/trace.ts'

export interface SenderDeps {
  post: (post: Post) => Promise<PostOutcome>
  signingSecrets: Pick<SigningSecrets, 'find'>
  /** Called when a webhook turns out to have no secret. */
  onMissingSecret: (webhookKey: string) => void
  now: () => Date
  version: string
}

/** One post of an event. */
export interface EventPost extends Pick<SignedPost, 'eventId' | 'eventType' | 'deliveryId' | 'attempt' | 'body'> {
  url: string
  /** Its trace continues at the receiver. */
  screenshot?: Screenshot | undefined
}

export interface SentEvent {
  outcome: PostOutcome
  begun: Date
  /** Fields of the delivery log. */
  finding: AttemptFinding
}

/** Returns what signs an event for a webhook and posts it; undefined while the webhook has no secret. */
export async function findSender(webhook: Webhook, deps: SenderDeps): Promise<((event: EventPost) => Promise<SentEvent>) | undefined> {
  const secrets = await deps.signingSecrets.find(webhook)
  if (secrets === undefined) {
    deps.onMissingSecret(keyOf(webhook))
    return undefined
  }
  return async ({ url, screenshot, ...event }) => {
    const begun = deps.now()
    const headers = buildHeaders({ ...event, secrets, webhookId: webhookIdOf(webhook.metadata), at: begun, version: deps.version })
    const trace = screenshot ? toTraceHeaders(screenshot, event.deliveryId, event.attempt) : {}
    const outcome = await deps.post({ url, headers: { ...headers, ...trace }, body: event.body })
    return { outcome, begun, finding: toFinding(outcome, begun, secrets) }
  }
}
