// Setup of the delivery tests: a real API server with Tintype's kinds, a real HTTPS endpoint with its own CA, and deliveries as the
// operator runs them. The test completes Screenshots in the role of the runner.

import type { Test } from 'tap'
import { screenshots, secrets, webhooks } from '../../../crds/client/kinds.ts'
import type { Log } from '../../../crds/client/log.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { newOpeningKey, type OpeningKeys, seal, toSealingKey } from '../../../crds/src/crypto/sealed.ts'
import type { KeyRing } from '../../../crds/src/crypto/signatures.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotSpec, ScreenshotStatus } from '../../../crds/src/kinds/screenshot.ts'
import type { Webhook, WebhookSpec } from '../../../crds/src/kinds/webhook.ts'
import { createDirectory } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { type Deliveries, startDeliveries } from '../../support/fakes/deliveries.ts'
import { type Answer, answerWith, type HttpsReceiver, startHttpsReceiver } from '../../support/servers/https-receiver.ts'
import { startPlane } from '../client/plane.ts'

/** Keys of links in the events of these tests. */
export const ring: KeyRing = { current: 'k1', keys: { k1: Buffer.alloc(32, 7).toString('base64') } }

/** Keys that open the signing secrets of these tests. */
export const openingKeys: OpeningKeys = [newOpeningKey('k1')]

/** The text of a signing secret, sealed for a webhook of the default account. */
export const sealFor = (webhook: string, secret: string): Promise<string> =>
  seal(secret, { purpose: 'signing-secret', subject: webhook, account: 'default' }, toSealingKey(openingKeys[0]!))

/** Warnings and errors go to stderr, so that a failed test shows what the operator logged. */
const log: Log = {
  debug: () => {},
  info: () => {},
  warn: (fields, message) => console.error(message, fields),
  error: (fields, message) => console.error(message, fields),
}

/** The delivery part of an operator that leads. */
export async function startStage(t: Test) {
  const plane = await startPlane(t)
  const http = plane.connect(t)
  const shots = new Resource(http, screenshots)
  const hooks = new Resource(http, webhooks)

  /** Starts deliveries as a leader does. */
  async function lead(options: Partial<Deliveries> & Pick<Deliveries, 'certificates'>) {
    const caches = {
      screenshots: new Reflector({ http, resource: screenshots }),
      webhooks: new Reflector({ http, resource: webhooks }),
    }
    for (const cache of Object.values(caches)) cache.start()
    await Promise.all(Object.values(caches).map((cache) => cache.whenSynced()))
    const term = new AbortController()
    const work = startDeliveries({ http, ...caches, openingKeys, ring, signal: term.signal, log, ...options })
    /** Ends its term. Resolves when the results of its posts are recorded. */
    const end = async () => {
      term.abort()
      await work.stop()
      await Promise.all(Object.values(caches).map((cache) => cache.stop()))
    }
    t.teardown(end)
    /** Whether its informer caches contain no Webhook and no Screenshot. */
    const hasSeenNothing = async () => Object.values(caches).every(({ lister }) => lister.size === 0)
    return { end, hasSeenNothing }
  }

  /** Creates a Webhook and waits until it is ready. */
  async function subscribe(name: string, spec: Partial<WebhookSpec> & Pick<WebhookSpec, 'url'>): Promise<Webhook> {
    await hooks.create({ metadata: { name }, spec: { events: ['screenshot.completed'], ...spec } })
    return eventually(`${name} is ready`, async () => {
      const hook = await hooks.get(name)
      return hook.status?.activeSince !== undefined && hook
    })
  }

  /** Creates a Screenshot and ends its capture now. */
  async function complete(
    status: ScreenshotStatus = completedStatus({ completionTime: new Date().toISOString() }),
    spec: Partial<ScreenshotSpec> = {},
  ): Promise<Screenshot> {
    const name = toObjectName(newId('scr', new Date()))
    await shots.create({ metadata: { name }, spec: { url: 'https://example.com/', ...spec } })
    return shots.patch(name, mergePatch({ status }), { subresource: 'status' })
  }

  /** Waits for the entry of status.deliveries to match `wanted`. */
  const whenEntry = (shot: Screenshot, webhook: string, wanted: { state?: string; attempts?: number }, event = 'screenshot.completed') =>
    eventually(`${webhook}: ${JSON.stringify(wanted)}`, async () => {
      const entry = (await shots.get(shot.metadata.name)).status?.deliveries?.[event]?.[webhook]
      return entry && (wanted.state ?? entry.state) === entry.state && (wanted.attempts ?? entry.attempts) === entry.attempts && entry
    })

  /** The text that signs a webhook's deliveries. */
  const secretOf = async (webhook: string): Promise<string> => {
    const { data } = await new Resource(http, secrets).get(`${webhook}-signing-secret`)
    return Buffer.from(data?.['signing-secret'] ?? '', 'base64').toString('utf8')
  }

  return { plane, http, shots, hooks, lead, subscribe, complete, whenEntry, secretOf }
}

/** Starts an endpoint that stops at the end of the test. */
export async function startReceiver(t: Test, names?: string[]): Promise<HttpsReceiver> {
  const receiver = await startHttpsReceiver({ directory: await createDirectory(t, 'receiver'), ...(names ? { names } : {}) })
  t.teardown(() => receiver.close())
  return receiver
}

/** Rejects the first attempt of each delivery. */
export const failFirst: Answer = (request, response) =>
  answerWith(request.headers['x-webhook-attempt'] === '1' ? 500 : 200)(request, response)
