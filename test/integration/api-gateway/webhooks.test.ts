import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { hexSignature } from '../../../crds/src/crypto/signatures.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { assertSome } from '../../support/accepts.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { call } from './client.ts'
import { startStage } from './deliveries-stage.ts'

// The lifecycle of webhook endpoints over two replicas, and deliveries that the operator signs with secrets that the gateways sealed.

const { world, receiver, hooks, key, foreign, capture, gateway: a, startOperator } = await startStage(t)
const [b] = await Promise.all([world.startGateway({ TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' }), startOperator()])
const [urlA, urlB] = [`${a.url}/api/v1/webhooks`, `${b.url}/api/v1/webhooks`]

const hook = { name: 'orders', url: receiver.url, events: ['screenshot.completed'] }
const create = async (body: object = {}) => {
  const { status, body: response } = await call(urlA, { method: 'POST', key, body: { ...hook, ...body } })
  t.equal(status, 201)
  return response.data as { id: string; signing_secret: string }
}
/** The operator posts nothing for a change that it has not observed yet, so wait. */
const whenReady = (id: string) =>
  eventually(`${id} is ready`, async () => {
    const { metadata, status } = await hooks.get(toObjectName(id))
    return (
      status?.activeSince !== undefined && status.conditions?.some(({ observedGeneration }) => observedGeneration === metadata.generation)
    )
  })
t.afterEach(async () => {
  for (const { metadata } of await hooks.listAll()) await hooks.delete(metadata.name)
  for (const url of [urlA, urlB]) {
    await eventually(
      'all replicas have observed the result',
      async () => (await call(`${url}?include_inactive=1`, { key })).body.pagination.total === 0,
    )
  }
})

t.test('a webhook created by one replica is read, changed and deleted by another', async (t) => {
  const { id } = await create({ description: 'all' })
  const found = await call(`${urlB}/${id}`, { key })
  t.match(found, {
    status: 200,
    body: { success: true, data: { id, ...hook, is_active: true, is_default: false, statistics: { total_deliveries: 0 } } },
  })
  t.equal((await call(`${urlB}/${id}`, { key: foreign })).status, 404)
  const changed = await call(`${urlB}/${id}`, { method: 'PATCH', key, body: { is_active: false, name: 'off' } })
  t.match(changed, { status: 200, body: { data: { id, name: 'off', is_active: false, events: hook.events } } })
  t.ok(Date.parse(changed.body.data.updated_at) >= Date.parse(changed.body.data.created_at))
  t.strictSame((await call(urlB, { key })).body.data, [])
  t.equal((await call(`${urlB}?include_inactive=true`, { key })).body.data.length, 1)
  t.match(await call(`${urlA}/${id}`, { method: 'DELETE', key }), { status: 204 })
  t.equal((await call(`${urlA}/${id}`, { key })).status, 404)
  await eventually('the other replica returns 404', async () => (await call(`${urlB}/${id}`, { key })).status === 404)
})

t.test('an event is signed with the secret that the creation answered; both secrets sign after a rotation', async (t) => {
  const { id, signing_secret: first } = await create()
  await whenReady(id)
  await capture()
  const [before] = await receiver.whenReceived(1)
  t.equal(before?.headers['x-webhook-signature'], hexSignature(before!.body, first))
  t.equal(before?.headers['x-webhook-id'], id)

  const rotated = await call(`${urlB}/${id}/rotate-secret`, { method: 'POST', key, body: { overlap_hours: 1 } })
  const { signing_secret: second } = rotated.body.data
  t.equal(rotated.status, 200)
  await whenReady(id)
  await capture()
  const [, during] = await receiver.whenReceived(2)
  t.equal(during?.headers['x-webhook-signature'], hexSignature(during!.body, second))
  t.equal(during?.headers['x-webhook-signature-previous'], hexSignature(during!.body, first))
  const forced = await call(`${urlA}/${id}/rotate-secret`, { method: 'POST', key, body: { force: true, overlap_hours: 0 } })
  await whenReady(id)
  await capture()
  const [, , after] = await receiver.whenReceived(3)
  t.equal(after?.headers['x-webhook-signature'], hexSignature(after!.body, forced.body.data.signing_secret))
  t.notOk('x-webhook-signature-previous' in after!.headers)
  for (const place of [JSON.stringify(await hooks.listAll()), a.log(), b.log()]) {
    for (const text of [first, second, forced.body.data.signing_secret]) t.notOk(place.includes(text.slice(6)))
  }
})

t.test('statistics include deliveries', async (t) => {
  const { id } = await create({ signing_secret: 'a-secret-of-my-own-making' })
  await whenReady(id)
  await capture()
  await receiver.whenReceived(1)
  const statistics = await eventually('the delivery is counted', async () => {
    const { body } = await call(`${urlB}/${id}`, { key })
    return body.data.statistics.successful_deliveries === 1 && body.data.statistics
  })
  t.match(statistics, { total_deliveries: 1, pending_deliveries: 0, average_response_time_ms: Number, last_status_code: 200 })
})

t.test('a deleted webhook received events while a finalizer kept it, and a deleted default webhook signed them', async (t) => {
  const finalizers = ['example.com/held']
  const [held, control] = [await create({ url: `${receiver.url}/held` }), await create({ url: `${receiver.url}/control` })]
  await call(`${urlA}/default/rotate-secret`, { method: 'POST', key })
  const standard = await eventually('the default webhook exists', async () => (await hooks.listAll()).find(({ spec }) => spec.isDefault))
  const webhook_url = `${receiver.url}/own`
  for (const id of [held.id, control.id]) await whenReady(id)
  const names = [toObjectName(held.id), standard.metadata.name]
  for (const name of names) await hooks.patch(name, mergePatch({ metadata: { finalizers } }))
  t.equal((await call(`${urlA}/${held.id}`, { method: 'DELETE', key })).status, 204)
  await hooks.delete(standard.metadata.name)
  t.ok((await hooks.get(names[0]!)).metadata.deletionTimestamp, 'control: the finalizer keeps it')
  for (const url of [urlA, urlB]) {
    await eventually('the default webhook is gone', async () => (await call(`${url}/default`, { key })).status === 404)
    await eventually('the other one is gone', async () => (await call(`${url}?include_inactive=1`, { key })).body.pagination.total === 1)
    // The first reads the cache, the second the API server.
    for (const method of ['GET', 'DELETE']) t.equal((await call(`${url}/${held.id}`, { method, key })).status, 404, method)
  }
  t.match(await call(`${a.url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/', webhook_url } }), {
    status: 409,
    body: { error: { code: 'CONFLICT', message: /was deleted, but finalizers keep it/ } },
  })
  await capture()
  await receiver.whenReceived(1)
  await capture()
  await receiver.whenReceived(2)
  t.strictSame(
    receiver.received.map(({ path }) => path),
    ['/control', '/control'],
  )
  for (const name of names) await hooks.patch(name, mergePatch({ metadata: { finalizers: null } }))
})

t.test('events of a request with its own webhook URL are signed with a secret that any replica returns and rotates', async (t) => {
  const secrets = await Promise.all(
    [urlA, urlB].map((url) => call(`${url}/default/rotate-secret`, { method: 'POST', key, body: { overlap_hours: 24, force: true } })),
  )
  t.strictSame(
    secrets.map(({ status }) => status),
    [200, 200],
  )
  const { data: found } = (await call(`${urlB}/default`, { key })).body
  t.match(found, { is_default: true, is_active: true })
  t.equal((await hooks.listAll()).length, 1, 'both replicas created the same webhook')

  const webhook_url = `${receiver.url}/own`
  const body = { urls: ['https://example.com/1', 'https://example.com/2'], options: { webhook_url, webhook_events: ['screenshot.queued'] } }
  const { body: batch } = await call(`${a.url}/v1/screenshots/batch`, { method: 'POST', key, body })
  const first = await receiver.whenReceived(2)
  t.strictSame(
    first.map((request) => JSON.parse(request.body.toString()).data.screenshot.id).sort(),
    batch.screenshots.map(({ id }: { id: string }) => id).sort(),
  )
  t.match(first, [{ path: '/own', headers: { 'x-webhook-event': 'screenshot.queued', 'x-webhook-id': found.id } }])
  const texts = secrets.map(({ body }) => body.data.signing_secret)
  assertSome(
    t,
    texts,
    (text) => hexSignature(first[0]!.body, text) === first[0]?.headers['x-webhook-signature'],
    'the secret of one of the two rotations is valid',
  )

  const { body: late } = await call(`${b.url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/', webhook_url } })
  const status = completedStatus({ completionTime: new Date().toISOString() })
  await world.screenshots.patch(toObjectName(late.id), mergePatch({ status }), { subresource: 'status' })
  const [, , third] = await receiver.whenReceived(3)
  t.match(third?.headers, { 'x-webhook-event': 'screenshot.completed' })
  t.equal((await call(`${urlA}/default`, { key: foreign })).status, 404, 'another account has its own default webhook or none')
})
