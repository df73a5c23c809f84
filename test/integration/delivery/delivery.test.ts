import { createHmac } from 'node:crypto'
import t from 'tap'
import { hexSignature, newSigningSecret, verifyLink } from '../../../crds/src/crypto/signatures.ts'
import { toId } from '../../../crds/src/identifiers/names.ts'
import { eventually } from '../../support/eventually.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { failFirst, ring, sealFor, startReceiver, startStage } from './stage.ts'

const stage = await startStage(t)
const receiver = await startReceiver(t)
const leader = await stage.lead({ certificates: [receiver.ca], settings: { flushMilliseconds: 200 } })
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
  const id = toId(shot.metadata.name)
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

// proves: webhook_url, webhook_events
t.test('delivery posts to the URL of a request, signed and counted by the default webhook', async (t) => {
  const secret = newSigningSecret()
  const signingSecrets = [{ sealed: await sealFor('standard', secret) }]
  await stage.subscribe('standard', { url: `${receiver.url}/never`, isDefault: true, signingSecrets })
  const shot = await stage.complete(undefined, { webhookUrl: `${receiver.url}/own?token=1` })
  const [request] = await receiver.whenReceived(1)
  t.equal(request?.headers['x-webhook-signature'], hexSignature(request!.body, secret))
  t.match(JSON.parse(request!.body.toString()), { type: 'screenshot.completed', data: { screenshot: { id: toId(shot.metadata.name) } } })
  t.match(await stage.whenEntry(shot, '_request', { state: 'ok' }), { attempts: 1 })
  await stage.complete()
  const webhookEvents = ['screenshot.queued' as const, 'screenshot.completed' as const]
  const last = await stage.complete(undefined, { webhookUrl: `${receiver.url}/all`, webhookEvents })
  await stage.whenEntry(last, '_request', { state: 'ok' }, 'screenshot.queued')
  await stage.whenEntry(last, '_request', { state: 'ok' })
  const paths = receiver.received.map(({ path }) => path).sort()
  t.strictSame(paths, ['/all', '/all', '/own?token=1'], 'the default webhook itself receives nothing')
  await eventually('it counts', async () => (await stage.hooks.get('standard')).status?.statistics?.successful === 3)
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
