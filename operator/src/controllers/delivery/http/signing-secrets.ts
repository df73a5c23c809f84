import { type OpeningKeys, SealError, unseal } from '@tintype/crds/crypto/sealed'
import type { Webhook } from '@tintype/crds/kinds/webhook'
import { accountOf } from '@tintype/crds/records/record'
import type { SecretStore } from '../../../secrets/ensure-secret.ts'
import { readSigningSecret, type SigningTexts, sealedForWebhook, sealedTextsOf, signingSecretName } from '../../webhook/signing-secret.ts'

/** How long a secret is cached. The operator may get a Secret by name but not watch it. */
const MAX_AGE_MILLISECONDS = 30_000

interface Known {
  text: string
  readAt: number
}

export interface SigningSecretsOptions {
  secrets: Pick<SecretStore, 'find'>
  openingKeys: OpeningKeys
  now: () => Date
}

/** Signing secrets of webhooks, read when needed. Webhooks of the REST API have sealed secrets in their spec, others have a Secret. */
export class SigningSecrets {
  readonly #options: SigningSecretsOptions
  /** By uid and account, and for sealed secrets also by sealed text: a secret must not open for another webhook. */
  readonly #known = new Map<string, Known>()

  constructor(options: SigningSecretsOptions) {
    this.#options = options
  }

  /** The secrets of a webhook; undefined while it has no usable one. */
  async find(webhook: Webhook): Promise<SigningTexts | undefined> {
    this.#forgetOld()
    const opened = webhook.spec.signingSecrets ? await this.#open(webhook) : [await this.#read(webhook)]
    const [current, previous] = opened ?? []
    return current === undefined ? undefined : { current, ...(previous === undefined ? {} : { previous }) }
  }

  async #open(webhook: Webhook): Promise<string[] | undefined> {
    const { openingKeys, now } = this.#options
    try {
      const sealedFor = sealedForWebhook(webhook)
      const keyOf = (sealed: string) => `${webhook.metadata.uid}/${sealedFor.account}/${sealed}`
      return await Promise.all(
        sealedTextsOf(webhook, now()).map((sealed) => this.#remember(keyOf(sealed), () => unseal(sealed, sealedFor, openingKeys))),
      )
    } catch (error) {
      // The condition of the webhook reports this.
      if (error instanceof SealError) return undefined
      throw error
    }
  }

  async #read(webhook: Webhook): Promise<string | undefined> {
    const { uid, name } = webhook.metadata
    return this.#remember(`${uid}/${accountOf(webhook)}`, async () => {
      const secret = await this.#options.secrets.find(signingSecretName(name))
      return secret && readSigningSecret(secret, webhook)
    })
  }

  async #remember<T extends string | undefined>(key: string, load: () => Promise<T>): Promise<T | string> {
    const known = this.#known.get(key)
    if (known) return known.text
    const text = await load()
    if (text !== undefined) this.#known.set(key, { text, readAt: this.#options.now().getTime() })
    return text
  }

  #forgetOld(): void {
    const now = this.#options.now().getTime()
    for (const [key, { readAt }] of this.#known) if (now - readAt >= MAX_AGE_MILLISECONDS) this.#known.delete(key)
  }
}
