// A stub of the API server for deliveries: caches that the benchmark fills, and writes that are applied to them at once. So only the
// operator's own work is measured.

import { randomUUID } from 'node:crypto'
import { screenshots, webhooks } from '../../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { Reflector } from '../../../../crds/client/reflector.ts'
import type { JsonPatchOperation } from '../../../../crds/client/resource.ts'
import { newOpeningKey, type OpeningKeys, seal, toSealingKey } from '../../../../crds/src/crypto/sealed.ts'
import { newSigningSecret } from '../../../../crds/src/crypto/signatures.ts'
import { newId } from '../../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../crds/src/kinds/screenshot.ts'
import { aScreenshot, aWebhook, completedStatus } from '../../../support/fakes/builders.ts'

const NAMESPACE = 'default'

export class StubPlane {
  readonly #openingKey = newOpeningKey('bench')
  readonly openingKeys: OpeningKeys = [this.#openingKey]
  readonly http: KubeHttp
  readonly screenshots: Reflector<Screenshot>
  readonly webhooks: Reflector<ReturnType<typeof aWebhook>>
  #version = 1

  constructor() {
    const request = async ({ path, body }: { path: string; body?: unknown }) => this.#answer(path, body)
    // Deliveries use only this part of the client.
    this.http = { namespace: NAMESPACE, request, fenced: () => this.http } as unknown as KubeHttp
    this.screenshots = new Reflector({ http: this.http, resource: screenshots })
    this.webhooks = new Reflector({ http: this.http, resource: webhooks })
  }

  /** Creates a webhook that is already active. */
  async subscribe(name: string, url: string): Promise<void> {
    const since = new Date(Date.now() - 60_000).toISOString()
    const purpose = { purpose: 'signing-secret', subject: name, account: 'default' } as const
    const sealed = await seal(newSigningSecret(), purpose, toSealingKey(this.#openingKey))
    this.webhooks.noteWritten(
      aWebhook({
        name,
        metadata: this.#metadata(),
        spec: { url, signingSecrets: [{ sealed }] },
        status: { activeSince: since, subscriptions: { 'screenshot.completed': since } },
      }),
    )
  }

  /** Creates a Screenshot whose capture has just finished. Returns its id. */
  complete(): string {
    const id = newId('scr', new Date())
    const status = completedStatus({ completionTime: new Date().toISOString() })
    this.screenshots.noteWritten(aScreenshot({ name: toObjectName(id), metadata: this.#metadata(), status }))
    return id
  }

  /** Screenshots whose deliveries are all recorded. */
  settled(): number {
    const entries = this.screenshots.lister.list().map(({ status }) => Object.values(status?.deliveries?.['screenshot.completed'] ?? {}))
    return entries.filter((of) => of.length > 0 && of.every(({ state }) => state !== 'open')).length
  }

  #metadata() {
    return { uid: randomUUID(), resourceVersion: String(++this.#version), namespace: NAMESPACE }
  }

  /** Delivery states arrive as JSON patches. Patches of a webhook have no effect here. */
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
