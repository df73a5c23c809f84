// What deliveries see of an API server, without one: caches that the benchmark feeds, and writes that are applied to them at once. What is
// measured is the operator's own work then.

import { randomUUID } from 'node:crypto'
import { screenshots, webhooks } from '../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../crds/client/kube-http.ts'
import type { JsonPatchOperation } from '../../../crds/client/patch.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { newOpeningKey, type OpeningKeys, seal, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import { newSigningSecret } from '../../../crds/src/crypto/webhook-signature.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { aScreenshot, aWebhook, completedStatus } from '../../support/fakes/builders.ts'

const NAMESPACE = 'default'

/** See the head of this file. */
export class StubPlane {
  readonly #openingKey = newOpeningKey('bench')
  readonly openingKeys: OpeningKeys = [this.#openingKey]
  readonly http: KubeHttp
  readonly screenshots: Reflector<Screenshot>
  readonly webhooks: Reflector<ReturnType<typeof aWebhook>>
  #version = 1

  constructor() {
    const request = async ({ path, body }: { path: string; body?: unknown }) => this.#answer(path, body)
    // Of the client no more is used than that.
    this.http = { namespace: NAMESPACE, request } as unknown as KubeHttp
    this.screenshots = new Reflector({ http: this.http, resource: screenshots })
    this.webhooks = new Reflector({ http: this.http, resource: webhooks })
  }

  /** Makes a webhook that is active already. */
  async subscribe(name: string, url: string): Promise<void> {
    const since = new Date(Date.now() - 60_000).toISOString()
    const purpose = { purpose: 'signing-secret', subject: name, account: 'default' } as const
    const sealed = await seal(newSigningSecret(), purpose, toSealingKey(this.#openingKey))
    this.webhooks.observe(
      aWebhook({
        name,
        metadata: this.#metadata(),
        spec: { url, signingSecrets: [{ sealed }] },
        status: { activeSince: since, subscriptions: { 'screenshot.completed': since } },
      }),
    )
  }

  /** Makes a Screenshot whose capture ends now; gives its id. */
  complete(): string {
    const id = newId('scr', new Date())
    const status = completedStatus({ completionTime: new Date().toISOString() })
    this.screenshots.observe(aScreenshot({ name: toObjectName(id), metadata: this.#metadata(), status }))
    return id
  }

  /** Screenshots whose deliveries are all written down. */
  settled(): number {
    const entries = this.screenshots.lister.list().map(({ status }) => Object.values(status?.deliveries?.['screenshot.completed'] ?? {}))
    return entries.filter((of) => of.length > 0 && of.every(({ state }) => state !== 'open')).length
  }

  #metadata() {
    return { uid: randomUUID(), resourceVersion: String(++this.#version), namespace: NAMESPACE }
  }

  /** Delivery states come as JSON patches; what is written about a webhook changes nothing here. */
  #answer(path: string, body: unknown): unknown {
    const [plural, name = ''] = path.split('/').slice(6)
    const key = `${NAMESPACE}/${decodeURIComponent(name)}`
    if (plural !== 'screenshots') return this.webhooks.lister.get(key)
    const object = structuredClone(this.screenshots.lister.get(key)) as Screenshot
    for (const operation of body as JsonPatchOperation[]) if (operation.op === 'add') put(object, operation.path, operation.value)
    object.metadata.resourceVersion = String(++this.#version)
    return object
  }
}

function put(object: object, pointer: string, value: unknown): void {
  const segments = pointer.slice(1).split('/')
  const last = segments.pop() ?? ''
  let place = object as Record<string, unknown>
  for (const segment of segments) place = place[segment] as Record<string, unknown>
  place[last] = value
}
