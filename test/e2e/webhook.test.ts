import { execFileSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import t from 'tap'
import { absolute, call, capture } from '../support/cluster/api-client.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { startClusterReceiver } from '../support/cluster/receiver.ts'
import { eventually } from '../support/eventually.ts'
import { page } from '../support/servers/pages.ts'
import type { ListedRequest } from '../support/servers/receiver-program.ts'

// A Webhook created with `kubectl apply`: its events are posted, signed, and recorded.

const receiver = await startClusterReceiver(t)
const run = Date.now().toString(36)

/** Creates a Webhook with kubectl and waits until it is Ready. */
async function subscribe(name: string, path: string, events: string[]): Promise<void> {
  const spec = { url: receiver.url + path, events }
  const applied = await kubectl(
    ['apply', '-f', '-'],
    JSON.stringify({ apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', metadata: { name }, spec }),
  )
  if (applied.code !== 0) throw new Error(applied.stderr)
  t.teardown(() => kubectl(['delete', 'webhook', name]))
  const waited = await kubectl(['wait', '--for=condition=Ready', `webhook/${name}`, '--timeout=120s'])
  if (waited.code !== 0) throw new Error(waited.stderr)
}

const eventsOf = async (path: string, id: string): Promise<ListedRequest[]> =>
  (await receiver.received()).filter((request) => request.path === path && toEvent(request).data.screenshot.id === id)
const toEvent = ({ body }: ListedRequest) => JSON.parse(Buffer.from(body, 'base64').toString())

/** Waits for the delivery of an event to a webhook to be recorded. */
const settled = (id: string, event: string, webhook: string) =>
  eventually(`${webhook} has the event`, async () => {
    const shot = await kubectlJson<{ status: { deliveries?: Record<string, Record<string, { attempts: number; state: string }>> } }>([
      'get',
      'screenshot',
      id.replace('_', '-'),
    ])
    const entry = shot.status.deliveries?.[event]?.[webhook]
    return entry && entry.state !== 'open' && entry
  })

t.test('a completed Screenshot is posted with a signature and a link to its picture, and the delivery is recorded', async (t) => {
  const name = `told-${run}`
  await subscribe(name, '/in', ['screenshot.completed'])
  const record = await capture(page('/quadrants'))
  t.equal(record.status, 'completed')
  t.match(await settled(record.id, 'screenshot.completed', name), { attempts: 1, state: 'ok' })

  const [request, ...more] = await eventsOf('/in', record.id)
  t.equal(more.length, 0, 'it was sent once')
  const { data } = await kubectlJson<{ data: Record<string, string> }>(['get', 'secret', `${name}-signing-secret`])
  const secret = Buffer.from(data['signing-secret'] ?? '', 'base64').toString()
  const body = Buffer.from(request!.body, 'base64')
  const openssl = execFileSync('openssl', ['dgst', '-sha256', '-hmac', secret, '-r'], { input: body, encoding: 'utf8' })
  t.equal(request!.headers['x-webhook-signature'], openssl.split(' ')[0])
  const signed = `${request!.headers['webhook-id']}.${request!.headers['webhook-timestamp']}.${body}`
  const standard = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(signed)
    .digest('base64')
  t.equal(request!.headers['webhook-signature'], `v1,${standard}`)

  const event = toEvent(request!)
  t.match(event, { type: 'screenshot.completed', data: { screenshot: { id: record.id, status: 'completed' } } })
  const picture = await fetch(absolute(event.data.screenshot.download_url))
  t.equal(picture.status, 200)
  t.equal(picture.headers.get('content-type'), 'image/png')
  const { stdout } = await kubectl(['get', 'webhooks', name])
  t.match(stdout, /NAME +ACCOUNT +URL +READY +SENT +FAILED +LAST +AGE/)
  t.match(stdout, new RegExp(`${name} +\\S* +https://\\S+/in +True`))
})

t.test('a failed post is retried with the same bytes', async (t) => {
  const name = `repeated-${run}`
  await subscribe(name, '/fail/2', ['screenshot.completed'])
  const record = await capture(page('/quadrants'))
  t.match(await settled(record.id, 'screenshot.completed', name), { attempts: 3, state: 'ok' })
  const requests = await eventsOf('/fail/2', record.id)
  t.strictSame(
    requests.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2', '3'],
  )
  t.equal(new Set(requests.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size, 1)
})

t.test('a failed Screenshot is posted with its reason', async (t) => {
  const name = `failures-${run}`
  await subscribe(name, '/failures', ['screenshot.failed'])
  const record = await capture('http://no-such-page.sites.svc.cluster.local/')
  t.equal(record.status, 'failed')
  t.match(await settled(record.id, 'screenshot.failed', name), { state: 'ok' })
  const [request] = await eventsOf('/failures', record.id)
  t.match(toEvent(request!), {
    type: 'screenshot.failed',
    data: { screenshot: { status: 'failed', error: record.error, download_url: null } },
  })
})

t.test('a webhook gets all events of screenshots that are created right after its 201', async (t) => {
  const ROUNDS = 5
  const created: { path: string; id: string }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const path = `/at-once-${run}-${round}`
    const hook = await call<{ data: { id: string } }>('/api/v1/webhooks', {
      method: 'POST',
      body: { name: path.slice(1), url: receiver.url + path, events: ['screenshot.queued', 'screenshot.completed'] },
    })
    t.equal(hook.status, 201)
    // Deletes the webhook, which would otherwise get the events of all following tests.
    t.teardown(() => call(`/api/v1/webhooks/${hook.body.data.id}`, { method: 'DELETE' }))
    const shot = await call<{ id: string }>('/api/v1/screenshots', { method: 'POST', body: { url: page('/quadrants') } })
    created.push({ path, id: shot.body.id })
  }
  for (const { path, id } of created) {
    await eventually(`${path} has both events`, async () => (await eventsOf(path, id)).length === 2)
    const types = (await eventsOf(path, id)).map((request) => toEvent(request).type).sort()
    t.strictSame(types, ['screenshot.completed', 'screenshot.queued'])
  }
  const all = await receiver.received()
  const earlier = created.flatMap(({ path }, index) => {
    const before = new Set(created.slice(0, index).map(({ id }) => id))
    return all.filter((request) => {
      const { type, data } = request.path === path ? toEvent(request) : { type: '', data: {} }
      return type === 'screenshot.queued' && before.has(data.screenshot.id)
    })
  })
  t.equal(earlier.length, 0, 'no webhook got a screenshot.queued from before its creation')
})

t.test('a Webhook with a URL inside the cluster does not become Ready', async (t) => {
  const name = `inside-${run}`
  const spec = { url: 'https://kubernetes.default.svc.cluster.local/', events: ['screenshot.completed'] }
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'tintype.dev/v1alpha1', kind: 'Webhook', metadata: { name }, spec }))
  t.teardown(() => kubectl(['delete', 'webhook', name]))
  const waited = await kubectl(['wait', '--for=condition=Ready=False', `webhook/${name}`, '--timeout=120s'])
  t.equal(waited.code, 0, waited.stderr)
  t.match((await kubectl(['describe', 'webhook', name])).stdout, /AddressRefused/)
})
