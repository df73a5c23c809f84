// Reliability of deliveries: pauses for failing endpoints, disabling them after days, URLs of single requests, and objects that are deleted
// meanwhile. Days pass on a manual clock.

import t from 'tap'
import { mergePatch } from '../../../crds/client/patch.ts'
import { hexSignature, newSigningSecret } from '../../../crds/src/crypto/webhook-signature.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { Annotation, toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot, ScreenshotSpec } from '../../../crds/src/kinds/screenshot.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { answerWith } from '../../support/servers/https-receiver.ts'
import { sealFor, startReceiver, startStage } from './stage.ts'

const HOUR = 3_600_000
const stage = await startStage(t)
const receiver = await startReceiver(t)

/** How far the operator's clock is ahead. */
let ahead = 0
const now = () => new Date(Date.now() + ahead)
const reported: string[] = []
const settings = { timeoutMilliseconds: 10_000, retryDelaysMilliseconds: [300, 600], allowedCidrs: ['127.0.0.0/8'], allowedHosts: [] }
const leader = await stage.lead({
  certificates: [receiver.ca],
  settings: { ...settings, disableAfterDays: 5, flushMilliseconds: 200 },
  now,
  events: { warn: ({ metadata }, reason) => void reported.push(`${metadata.name} ${reason}`), normal() {} },
})

t.beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = answerWith(200)
})
t.afterEach(async () => {
  for (const { metadata } of await stage.hooks.listAll()) await stage.hooks.delete(metadata.name)
  // Screenshots that ended on a clock that was ahead ended after the next test's webhook was created, which would receive their events.
  for (const { metadata } of await stage.shots.listAll()) await stage.shots.delete(metadata.name)
  await eventually('the operator has seen that', leader.hasSeenNothing)
})

/** Creates a Screenshot that ends now. */
async function complete(spec: Partial<ScreenshotSpec> = {}, name = toObjectName(newId('scr', now()))): Promise<Screenshot> {
  await stage.shots.create({ metadata: { name }, spec: { url: 'https://example.com/', ...spec } })
  const status = completedStatus({ completionTime: now().toISOString() })
  return stage.shots.patch(name, mergePatch({ status }), { subresource: 'status' })
}

/** Creates the account's default Webhook as the gateway does. Returns its secret. */
async function makeDefaultWebhook(): Promise<string> {
  const text = newSigningSecret()
  const sealed = await sealFor('standard', text)
  await stage.subscribe('standard', { url: `${receiver.url}/never`, isDefault: true, signingSecrets: [{ sealed }] })
  return text
}

const pathsOf = () => receiver.received.map(({ path }) => path)
const idOf = ({ metadata }: Screenshot) => metadata.name.replace('-', '_')
/** Attempts that were received for a Screenshot. */
const attemptsOf = (shot: Screenshot): (string | undefined)[] =>
  receiver.received
    .filter(({ body }) => JSON.parse(body.toString()).data.screenshot.id === idOf(shot))
    .map(({ headers }) => headers['x-webhook-attempt'])

// proves: webhook_url, webhook_events
t.test('delivery posts to the URL of a request, signed and counted by the default webhook', async (t) => {
  const secret = await makeDefaultWebhook()
  const shot = await complete({ webhookUrl: `${receiver.url}/own?token=1` })
  const [request] = await receiver.whenReceived(1)
  t.equal(request?.headers['x-webhook-signature'], hexSignature(request!.body, secret))
  t.match(JSON.parse(request!.body.toString()), { type: 'screenshot.completed', data: { screenshot: { id: idOf(shot) } } })
  t.match(await stage.whenEntry(shot, '_request', { state: 'ok' }), { attempts: 1 })
  await complete()
  const last = await complete({ webhookUrl: `${receiver.url}/all`, webhookEvents: ['screenshot.queued', 'screenshot.completed'] })
  await stage.whenEntry(last, '_request', { state: 'ok' }, 'screenshot.queued')
  await stage.whenEntry(last, '_request', { state: 'ok' })
  t.strictSame(pathsOf().sort(), ['/all', '/all', '/own?token=1'], 'the default webhook itself receives nothing')
  await eventually('it counts', async () => (await stage.hooks.get('standard')).status?.statistics?.successful === 3)
})

t.test('delivery tries the URL of a request three times, and never a private one', async (t) => {
  await makeDefaultWebhook()
  receiver.answer = answerWith(500)
  const failing = await complete({ webhookUrl: `${receiver.url}/own` })
  const inside = await complete({ webhookUrl: 'https://10.0.0.1/' })
  t.equal((await stage.whenEntry(failing, '_request', { state: 'failed' })).attempts, 3)
  t.strictSame(attemptsOf(failing), ['1', '2', '3'])
  t.equal((await stage.whenEntry(inside, '_request', { state: 'failed' })).attempts, 3)
})

t.test('delivery posts nothing for a request while the default webhook is disabled', async (t) => {
  await makeDefaultWebhook()
  await stage.hooks.patch('standard', mergePatch({ spec: { active: false } }))
  await eventually('it is inactive', async () => (await stage.hooks.get('standard')).status?.activeSince === undefined)
  const silent = await complete({ webhookUrl: `${receiver.url}/own` })
  await stage.subscribe('control', { url: receiver.url })
  await stage.whenEntry(await complete(), 'control', { state: 'ok' })
  t.equal((await stage.shots.get(silent.metadata.name)).status?.deliveries, undefined)
})

t.test('delivery posts events of a Screenshot with a name that a user chose', async (t) => {
  await stage.subscribe('all', { url: receiver.url, events: ['screenshot.queued', 'screenshot.completed'] })
  const shot = await complete({}, 'my-page')
  await stage.whenEntry(shot, 'all', { state: 'ok' }, 'screenshot.queued')
  await stage.whenEntry(shot, 'all', { state: 'ok' })
  const ids = receiver.received.map(({ body }) => JSON.parse(body.toString()).data.screenshot.id)
  t.equal(new Set(ids).size, 1)
  t.match(ids[0], /^scr_/)
})

t.test('delivery starts no attempt for a deleted Screenshot, and fails when its webhook is deleted', async (t) => {
  for (const name of ['stays', 'goes', 'held']) await stage.subscribe(name, { url: `${receiver.url}/${name}` })
  receiver.answer = answerWith(500)
  const deleted = await complete()
  await receiver.whenReceived(3)
  await stage.shots.delete(deleted.metadata.name)
  const before = attemptsOf(deleted).length
  const shot = await complete()
  const isHeld = (finalizers: string[] | null) => stage.hooks.patch('held', mergePatch({ metadata: { finalizers } }))
  await isHeld(['example.com/held'])
  for (const name of ['goes', 'held']) {
    await stage.whenEntry(shot, name, { state: 'open' })
    await stage.hooks.delete(name)
    t.ok((await stage.whenEntry(shot, name, { state: 'failed' })).attempts < 3, `${name} gets no last attempt`)
  }
  t.ok((await stage.hooks.get('held')).metadata.deletionTimestamp, 'control: a finalizer keeps it')
  await isHeld(null)
  t.equal(
    (await stage.whenEntry(shot, 'stays', { state: 'failed' })).attempts,
    3,
    'by now the second attempt of the deleted one would be over',
  )
  t.ok(attemptsOf(deleted).length <= before + 3, 'posts in progress at its deletion may still arrive')
  t.notOk(attemptsOf(deleted).includes('3'))
})

t.test('delivery uses the URL and the secrets that the webhook has at each attempt', async (t) => {
  const [first, second] = [newSigningSecret(), newSigningSecret()]
  const old = await sealFor('moving', first)
  await stage.subscribe('moving', { url: `${receiver.url}/old`, signingSecrets: [{ sealed: old }] })
  receiver.answer = async (request, response) => {
    if (request.headers['x-webhook-attempt'] !== '1') return answerWith(200)(request, response)
    // The webhook gets a new secret and URL during the first attempt.
    const signingSecrets = [
      { sealed: await sealFor('moving', second) },
      { sealed: old, expiryTime: new Date(now().getTime() + HOUR).toISOString() },
    ]
    const { metadata } = await stage.hooks.patch('moving', mergePatch({ spec: { url: `${receiver.url}/new`, signingSecrets } }))
    await stage.whenObserved(metadata)
    return answerWith(500)(request, response)
  }
  await stage.whenEntry(await complete(), 'moving', { state: 'ok' })
  const [one, two] = receiver.received
  t.match([one?.path, two?.path], ['/old', '/new'])
  t.equal(one?.body.toString(), two?.body.toString())
  t.equal(one?.headers['x-webhook-signature'], hexSignature(one!.body, first))
  t.equal(two?.headers['x-webhook-signature'], hexSignature(two!.body, second))
  t.equal(two?.headers['x-webhook-signature-previous'], hexSignature(two!.body, first))
})

t.test('delivery pauses a failing endpoint, and this uses no attempt', async (t) => {
  await stage.subscribe('flaky', { url: receiver.url })
  receiver.answer = answerWith(503)
  const shots = await Promise.all(Array.from({ length: 12 }, () => complete()))
  const conditionOf = async (status: string) =>
    (await stage.hooks.get('flaky')).status?.conditions?.some((condition) => condition.type === 'Answering' && condition.status === status)
  await eventually('it is paused', () => conditionOf('False'))
  const held = await eventually('posts in progress have ended', async () => {
    const entries = await Promise.all(shots.map(async ({ metadata }) => (await stage.shots.get(metadata.name)).status?.deliveries))
    return entries.every((events) => events?.['screenshot.completed']?.flaky) && entries
  })
  t.ok(
    held.some((events) => events?.['screenshot.completed']?.flaky?.state === 'open'),
    'attempts are left',
  )

  receiver.answer = answerWith(200)
  ahead += 31_000
  // The first one after the pause is the probe; its success releases the others.
  const probe = await complete()
  await stage.whenEntry(probe, 'flaky', { state: 'ok' })
  await eventually('the pause is over', () => conditionOf('True'))
  const entries = await Promise.all(
    shots.map((shot) =>
      eventually('it is settled', async () => {
        const entry = (await stage.shots.get(shot.metadata.name)).status?.deliveries?.['screenshot.completed']?.flaky
        return entry !== undefined && entry.state !== 'open' && entry
      }),
    ),
  )
  t.ok(entries.some(({ state }) => state === 'ok'))
  for (const [index, { attempts: recorded, state }] of entries.entries()) {
    const attempts = attemptsOf(shots[index]!)
    t.equal(attempts.length, recorded, `${state}: each recorded attempt was posted`)
    t.ok(state === 'ok' || recorded === 3, 'none failed before its third attempt')
  }
})

t.test('an endpoint that fails for five days is disabled, and starts again when it is enabled', async (t) => {
  const hook = await stage.subscribe('dead', { url: receiver.url })
  receiver.answer = answerWith(503)
  const fail = async (times: number) => {
    await stage.whenEntry(await complete(), 'dead', { state: 'failed' })
    return eventually('it is counted', async () => {
      const seen = await stage.hooks.get('dead')
      return (seen.status?.statistics?.failed ?? 0) >= times && seen
    })
  }
  for (let times = 1; times <= 6; times++) {
    t.not((await fail(times)).spec.active, false, `on after ${ahead / HOUR} hours`)
    ahead += 20 * HOUR
  }
  // The endpoint may be disabled after the first attempt of this event. Its other attempts then never happen.
  await complete()
  const off = await eventually('it is disabled with a reason', async () => {
    const seen = await stage.hooks.get('dead')
    return seen.status?.conditions?.some(({ reason }) => reason === 'Disabled') && seen
  })
  t.equal(off.spec.active, false)
  t.match(off.metadata.annotations?.[Annotation.disabledReason], /every post since .* failed; the last response was 503/)
  t.match(off.status, { activeSince: undefined, conditions: [{ type: 'Ready', status: 'False', reason: 'Disabled' }] })
  t.strictSame(reported, ['dead WebhookDisabled'])

  await stage.hooks.patch('dead', mergePatch({ spec: { active: true } }))
  const on = await eventually('it is active', async () => {
    const seen = await stage.hooks.get('dead')
    return seen.status?.activeSince !== undefined && seen.metadata.annotations?.[Annotation.disabledReason] === undefined && seen
  })
  t.ok(Date.parse(on.status?.activeSince ?? '') > Date.parse(hook.status?.activeSince ?? ''))
  const failed = (await stage.hooks.get('dead')).status?.statistics?.failed ?? 0
  t.not((await fail(failed + 1)).spec.active, false, 'the failure time started again')
  t.equal(reported.length, 1)
})
