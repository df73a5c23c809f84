import { createHmac } from 'node:crypto'
import t from 'tap'
import { secrets } from '../../../crds/client/core-resources.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { verifyLink } from '../../../crds/src/crypto/download-link.ts'
import { hexSignature, newSigningSecret } from '../../../crds/src/crypto/webhook-signature.ts'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../crds/src/identifiers/names.ts'
import type { Comparison } from '../../../crds/src/kinds/comparison.ts'
import { tombstoneKey } from '../../../crds/src/records/storage-keys.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus, failedStatus } from '../../support/fakes/builders.ts'
import { MemoryBucket } from '../../support/fakes/memory-bucket.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { failFirst, ring, sealFor, startReceiver, startStage } from './stage.ts'

const stage = await startStage(t)
const receiver = await startReceiver(t)
const bucket = new MemoryBucket()
const leader = await stage.lead({ certificates: [receiver.ca], bucket })
t.beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = answerWith(200)
})
t.afterEach(async () => {
  for (const { metadata } of await stage.hooks.listAll()) await stage.hooks.delete(metadata.name)
  for (const { metadata } of await stage.shots.listAll()) await stage.shots.delete(metadata.name)
  await eventually('the operator has seen that', leader.hasSeenNothing)
})

t.test('delivery posts the event of a completed Screenshot, signed with both schemes, and records it in status.deliveries', async (t) => {
  const hook = await stage.subscribe('signed', { url: `${receiver.url}/in?token=1` })
  const shot = await stage.complete()
  const [request] = await receiver.whenReceived(1)
  t.match(request, { method: 'POST', path: '/in?token=1', headers: { 'content-type': 'application/json', 'x-webhook-attempt': '1' } })

  const secret = await stage.secretOf('signed')
  const { headers, body } = request!
  t.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/)
  t.equal(headers['x-webhook-signature'], createHmac('sha256', secret).update(body).digest('hex'))
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body.toString()}`
  t.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  t.match(headers, {
    'x-webhook-event': 'screenshot.completed',
    'x-webhook-id': /^wh_[0-9a-z]{26}$/,
    'user-agent': 'Tintype-Webhooks/0.1.0',
  })
  t.ok(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000) < 60)

  const event = JSON.parse(body.toString())
  const id = shot.metadata.name.replace('-', '_')
  t.match(event, { id: headers['webhook-id'], type: 'screenshot.completed', created_at: shot.status?.completionTime })
  t.match(event.data.screenshot, {
    id,
    status: 'completed',
    url_to_capture: 'https://example.com/',
    storage_path: `users/default/${id}.png`,
  })
  const link = new URL(event.data.screenshot.download_url)
  t.equal(link.origin, 'https://shots.example.com')
  const parts = { key: link.pathname.replace('/files/', ''), expires: Number(link.searchParams.get('expires')) }
  t.ok(verifyLink(parts, link.searchParams.get('signature')!, ring, new Date()), 'the link returns the picture')

  const entry = await stage.whenEntry(shot, 'signed', { state: 'ok' })
  t.equal(entry.attempts, 1)
  const after = await stage.shots.get(shot.metadata.name)
  const { deliveries: _, ...rest } = after.status ?? {}
  t.strictSame(rest, shot.status, 'the write touches nothing else')
  t.ok(hook.status?.signingSecretName === 'signed-signing-secret')
})

t.test('delivery signs with the secrets sealed in the spec: both during a rotation, then only the new one', async (t) => {
  const [current, previous] = [newSigningSecret(), newSigningSecret()]
  const sealed = [await sealFor('sealed', current), await sealFor('sealed', previous)] as const
  const until = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString()
  const hook = await stage.subscribe('sealed', {
    url: receiver.url,
    signingSecrets: [{ sealed: sealed[0] }, { sealed: sealed[1], expiryTime: until(3_600_000) }],
  })
  t.equal(hook.status?.signingSecretName, undefined, 'no Secret exists')
  t.equal(await new Resource(stage.http, secrets).find('sealed-signing-secret'), undefined)
  await stage.complete()
  const [during] = await receiver.whenReceived(1)
  t.equal(during?.headers['x-webhook-signature'], hexSignature(during!.body, current))
  t.equal(during?.headers['x-webhook-signature-previous'], hexSignature(during!.body, previous))
  t.equal(String(during?.headers['webhook-signature']).split(' ').length, 2)

  const signingSecrets = [{ sealed: sealed[0] }, { sealed: sealed[1], expiryTime: until(-1_000) }]
  const { metadata } = await stage.hooks.patch('sealed', mergePatch({ spec: { signingSecrets } }))
  await stage.whenObserved(metadata)
  await stage.complete()
  const [, after] = await receiver.whenReceived(2)
  t.equal(after?.headers['x-webhook-signature'], hexSignature(after!.body, current))
  t.notOk('x-webhook-signature-previous' in after!.headers)
})

t.test('delivery posts nothing for a webhook with the sealed secret of another one, and reports why', async (t) => {
  const sealed = await sealFor('victim', newSigningSecret())
  await stage.hooks.create({
    metadata: { name: 'thief' },
    spec: { url: receiver.url, events: ['screenshot.completed'], signingSecrets: [{ sealed }] },
  })
  await eventually('the condition reports it', async () => {
    const { status } = await stage.hooks.get('thief')
    return status?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'SecretUnreadable')
  })
  await stage.subscribe('control', { url: receiver.url })
  await stage.complete()
  await receiver.whenReceived(1)
  t.strictSame(receiver.received.length, 1, 'only the control received the event')
})

t.test('delivery posts screenshot.changed besides screenshot.completed, only if the comparison found a change', async (t) => {
  const to = 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd'
  await stage.subscribe('both', { url: receiver.url, events: ['screenshot.completed', 'screenshot.changed'] })
  const completeWith = (comparison: Comparison) =>
    stage.complete(completedStatus({ completionTime: new Date().toISOString(), result: { format: 'png', comparison } }), {
      options: { compareTo: to },
    })
  const region = { x: 1, y: 2, width: 3, height: 4 }
  const shot = await completeWith({ changed: true, changedPixels: 12, changedRatio: 0.25, sizeChanged: false, regions: [region] })
  const events = (await receiver.whenReceived(2)).map(({ body }) => JSON.parse(body.toString()))
  t.strictSame(events.map(({ type }) => type).sort(), ['screenshot.changed', 'screenshot.completed'])
  const changed = events.find(({ type }) => type === 'screenshot.changed')
  t.match(changed, { created_at: shot.status?.completionTime, data: { screenshot: { id: shot.metadata.name.replace('-', '_') } } })
  t.match(changed.data.screenshot.comparison, {
    ...{ to, changed: true, changed_ratio: 0.25, changed_pixels: 12, size_changed: false },
    ...{ regions: [region], diff_url: null, skipped: null },
  })
  t.not(changed.id, events.find(({ type }) => type === 'screenshot.completed').id)
  receiver.received.length = 0
  await completeWith({ changed: false, skipped: 'blank' })
  await completeWith({ changed: false, changedPixels: 1, changedRatio: 0.0001, sizeChanged: false, regions: [] })
  const others = (await receiver.whenReceived(2)).map(({ body }) => JSON.parse(body.toString()))
  t.strictSame(
    others.map(({ type }) => type),
    ['screenshot.completed', 'screenshot.completed'],
  )
})

t.test('delivery posts events of failed and queued Screenshots', async (t) => {
  await stage.subscribe('all', { url: receiver.url, events: ['screenshot.queued', 'screenshot.failed', 'screenshot.completed'] })
  const shot = await stage.complete(failedStatus({ completionTime: new Date().toISOString() }))
  await receiver.whenReceived(2)
  const events = receiver.received.map(({ body }) => JSON.parse(body.toString())).sort((a, b) => a.type.localeCompare(b.type))
  t.match(events[0], {
    type: 'screenshot.failed',
    data: { screenshot: { status: 'failed', error: { code: 'DNS_FAILED' }, download_url: null } },
  })
  t.match(events[1], { type: 'screenshot.queued', data: { screenshot: { status: 'pending', completed_at: null, error: null } } })
  await stage.whenEntry(shot, 'all', { state: 'ok' }, 'screenshot.failed')
  await stage.whenEntry(shot, 'all', { state: 'ok' }, 'screenshot.queued')
})

t.test('delivery repeats the same bytes with the same id after a 500, and records each attempt', async (t) => {
  await stage.subscribe('flaky', { url: receiver.url })
  receiver.answer = (request, response) => answerWith(request.headers['x-webhook-attempt'] === '3' ? 204 : 500)(request, response)
  const shot = await stage.complete()
  const entry = await stage.whenEntry(shot, 'flaky', { state: 'ok' })
  t.equal(entry.attempts, 3)
  t.strictSame(
    receiver.received.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2', '3'],
  )
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  t.equal(new Set(receiver.received.map(({ body }) => body.toString('base64'))).size, 1)
})

t.test('delivery keeps the connection between posts', async (t) => {
  await stage.subscribe('steady', { url: receiver.url })
  const before = receiver.connections()
  for (let n = 1; n <= 5; n++) {
    await stage.complete()
    await receiver.whenReceived(n)
  }
  t.ok(receiver.connections() - before <= 1, `${receiver.connections() - before} new connections for 5 posts`)
})

t.test('delivery stops the retries of a webhook that is disabled', async (t) => {
  await stage.subscribe('off', { url: receiver.url })
  receiver.answer = answerWith(500)
  const shot = await stage.complete()
  await receiver.whenReceived(1)
  await stage.hooks.patch('off', mergePatch({ spec: { active: false } }))
  await stage.whenEntry(shot, 'off', { state: 'failed' })
  const off = await eventually('its status says so', async () => {
    const seen = await stage.hooks.get('off')
    return seen.status?.activeSince === undefined && seen
  })
  t.match(off, { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'Inactive' }] } })
})

t.test('delivery writes once for several successful endpoints', async (t) => {
  for (const n of [0, 1, 2]) await stage.subscribe(`several-${n}`, { url: `${receiver.url}/${n}` })
  stage.requests.length = 0
  const shot = await stage.complete()
  for (const n of [0, 1, 2]) await stage.whenEntry(shot, `several-${n}`, { state: 'ok', attempts: 1 })
  const writes = stage.requests.filter(({ verb, resource }) => verb === 'patch' && resource === 'screenshots')
  t.equal(writes.length, 1)
})

t.test('delivery writes nothing without receivers', async (t) => {
  await stage.subscribe('others', { url: receiver.url, events: ['screenshot.failed'] })
  await stage.subscribe('foreign', { url: receiver.url, accountName: 'acme' })
  stage.requests.length = 0
  const silent = await stage.complete()
  await stage.subscribe('own', { url: receiver.url })
  await stage.whenEntry(await stage.complete(), 'own', { state: 'ok' })
  t.equal((await stage.shots.get(silent.metadata.name)).status?.deliveries, undefined)
  t.equal(stage.requests.filter(({ verb, resource }) => verb === 'patch' && resource === 'screenshots').length, 1)
})

t.test('delivery by two operators that both consider themselves the leader loses nothing, and each event keeps its id', async (t) => {
  const COUNT = 6 // no more: ten failures would pause the endpoint
  const second = await stage.lead({ certificates: [receiver.ca] })
  await stage.subscribe('shared', { url: receiver.url })
  receiver.answer = failFirst
  const shots = await Promise.all(Array.from({ length: COUNT }, () => stage.complete()))
  for (const shot of shots) {
    const { attempts } = await stage.whenEntry(shot, 'shared', { state: 'ok' })
    t.ok(attempts <= 3)
  }
  await second.end()
  t.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, COUNT)
})

t.test('delivery goes on after its Screenshot was deleted', async (t) => {
  await stage.subscribe('waited-for', { url: receiver.url })
  receiver.answer = failFirst
  const shot = await stage.complete()
  await receiver.whenReceived(1)
  // As the gateway marks a deletion.
  bucket.objects.set(tombstoneKey('default', screenshotIdOf(shot.metadata)), '')
  await stage.shots.patch(shot.metadata.name, mergePatch({ metadata: { annotations: { [Annotation.deleteRequested]: 'now' } } }))
  await eventually('it was deleted', async () => (await stage.shots.find(shot.metadata.name)) === undefined)
  await receiver.whenReceived(2)
  t.strictSame(
    receiver.received.map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2'],
  )
})

t.test('webhook statistics count a delivery once, whatever its attempts', async (t) => {
  await stage.subscribe('counted', { url: receiver.url })
  receiver.answer = failFirst
  await stage.complete()
  const statistics = await eventually('statistics', async () => {
    const seen = (await stage.hooks.get('counted')).status?.statistics
    return seen?.successful === 1 && seen
  })
  t.match(statistics, { total: 1, successful: 1, failed: 0, lastStatusCode: 200 })
})

t.test('a webhook with a private address is rejected with a reason', async (t) => {
  const hooks = [
    ['private', 'https://10.0.0.1/'],
    ['metadata', 'https://169.254.169.254/latest'],
    ['cluster', 'https://kubernetes.default.svc/'],
  ] as const
  for (const [name, url] of hooks) {
    await stage.hooks.create({ metadata: { name }, spec: { url, events: ['screenshot.completed'] } })
    t.match(await stage.whenJudged(name), {
      status: { activeSince: undefined, conditions: [{ type: 'Ready', status: 'False', reason: 'AddressRefused' }] },
    })
  }
})

t.test('a webhook uses no Secret of another type', async (t) => {
  await new Resource(stage.http, secrets).create({
    metadata: { name: 'taken-signing-secret' },
    type: 'Opaque',
    data: { 'signing-secret': 'eHg=' },
  })
  await stage.hooks.create({ metadata: { name: 'taken' }, spec: { url: receiver.url, events: ['screenshot.completed'] } })
  t.match(await stage.whenJudged('taken'), { status: { conditions: [{ type: 'Ready', status: 'False', reason: 'SecretConflict' }] } })
})

t.test('a webhook signs with another team’s Secret: it needs the label of its account, unless it signed with it before', async (t) => {
  const store = new Resource(stage.http, secrets)
  const prepare = (webhook: string) =>
    store.create({
      metadata: { name: `${webhook}-signing-secret` },
      type: 'tintype.dev/signing-secret',
      data: { 'signing-secret': Buffer.from(`whsec_of_${webhook}`).toString('base64') },
    })
  const label = (webhook: string, account: string | null) =>
    store.patch(`${webhook}-signing-secret`, mergePatch({ metadata: { labels: { 'tintype.dev/account': account } } }))
  const reread = (webhook: string) => stage.hooks.patch(webhook, mergePatch({ metadata: { annotations: { seen: String(Math.random()) } } }))
  const whenCondition = (webhook: string, type: string, status: string) =>
    eventually(`${webhook} has ${type}=${status}`, async () => {
      const { conditions } = (await stage.hooks.get(webhook)).status ?? {}
      return conditions?.find((condition) => condition.type === type && condition.status === status)
    })
  for (const name of ['prepared', 'earlier']) {
    await prepare(name)
    await stage.hooks.create({ metadata: { name }, spec: { url: `${receiver.url}/${name}`, events: ['screenshot.completed'] } })
    const refused = await whenCondition(name, 'Ready', 'False')
    t.equal(refused.reason, 'SecretLabelMissing')
    t.match(refused.message, `label --overwrite secret ${name}-signing-secret tintype.dev/account=default`)
  }
  await label('prepared', 'other')
  await reread('prepared')
  // As an earlier version left it.
  const status = { signingSecretName: 'earlier-signing-secret', activeSince: new Date().toISOString() }
  await stage.hooks.patch('earlier', mergePatch({ status }), { subresource: 'status' })
  t.match(await whenCondition('earlier', 'SecretLabeled', 'False'), { reason: 'SecretLabelMissing', message: /kubectl -n \S+ label/ })
  await whenCondition('earlier', 'Ready', 'True')
  await stage.complete()
  const [kept] = await receiver.whenReceived(1)
  t.equal(kept?.path, '/earlier')
  t.equal(kept?.headers['x-webhook-signature'], hexSignature(kept!.body, 'whsec_of_earlier'))
  t.match((await stage.hooks.get('prepared')).status?.conditions, [{ type: 'Ready', status: 'False', reason: 'SecretLabelMissing' }])

  for (const name of ['prepared', 'earlier']) await label(name, 'default')
  for (const name of ['prepared', 'earlier']) await reread(name)
  await Promise.all([whenCondition('prepared', 'Ready', 'True'), whenCondition('earlier', 'SecretLabeled', 'True')])
  await stage.complete()
  t.strictSame(
    (await receiver.whenReceived(3))
      .slice(1)
      .map(({ path }) => path)
      .sort(),
    ['/earlier', '/prepared'],
  )
  await label('earlier', null)
  await reread('earlier')
  t.equal((await whenCondition('earlier', 'Ready', 'False')).reason, 'SecretLabelMissing', 'the label was there before')
})

t.test('delivery repeats a failed post while a slow endpoint still processes the same event', async (t) => {
  let answerSlow = () => {}
  receiver.answer = ({ path, headers }, response) => {
    if (path === '/slow') answerSlow = () => response.writeHead(200).end()
    else response.writeHead(headers['x-webhook-attempt'] === '1' ? 500 : 200).end()
  }
  await Promise.all([
    stage.subscribe('failing', { url: `${receiver.url}/failing` }),
    stage.subscribe('slow', { url: `${receiver.url}/slow` }),
  ])
  const shot = await stage.complete()
  const requests = await receiver.whenReceived(3)
  t.strictSame(
    requests.filter(({ path }) => path === '/failing').map(({ headers }) => headers['x-webhook-attempt']),
    ['1', '2'],
  )
  answerSlow()
  for (const [name, n] of [
    ['failing', 2],
    ['slow', 1],
  ] as const) {
    t.equal((await stage.whenEntry(shot, name, { state: 'ok' })).attempts, n)
  }
})
