import type { Webhook } from '@tintype/crds/kinds/webhook'
import type { SecretStore } from '../account/ensure-secret.ts'
import { readSigningSecret, signingSecretName } from '../webhook/signing-secret.ts'

/** How long a secret that was read is used: the operator may read a Secret by name but not watch it. */
const MAX_AGE_MILLISECONDS = 30_000

interface Known {
  text: string
  readAt: number
}

/** The signing secrets of webhooks, read when needed. */
export class SigningSecrets {
  readonly #secrets: Pick<SecretStore, 'find'>
  readonly #now: () => Date
  readonly #known = new Map<string, Known>()

  constructor(secrets: Pick<SecretStore, 'find'>, now: () => Date) {
    this.#secrets = secrets
    this.#now = now
  }

  /** The text of a webhook's secret; undefined while it has none that may be used. */
  async find(webhook: Webhook): Promise<string | undefined> {
    const { uid, name, namespace } = webhook.metadata
    const now = this.#now().getTime()
    const known = this.#known.get(uid)
    if (known && now - known.readAt < MAX_AGE_MILLISECONDS) return known.text
    for (const [other, { readAt }] of this.#known) if (now - readAt >= MAX_AGE_MILLISECONDS) this.#known.delete(other)
    const secret = await this.#secrets.find(signingSecretName(name), { namespace })
    const text = secret && readSigningSecret(secret, webhook)
    if (text !== undefined) this.#known.set(uid, { text, readAt: now })
    return text
  }
}
