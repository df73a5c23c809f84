import t from 'tap'
import { screenshots, secrets, webhooks } from '../../../../../crds/client/kinds.ts'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { mergePatch } from '../../../../../crds/client/resource.ts'
import { seal, toSealingKey } from '../../../../../crds/src/crypto/sealed.ts'
import { hexSignature, newSigningSecret } from '../../../../../crds/src/crypto/signatures.ts'
import { screenshotIdOf } from '../../../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../../../crds/src/kinds/screenshot.ts'
import { sealedForWebhook } from '../../../../../operator/src/controllers/webhook/signing-secret.ts'
import { eventually } from '../../../../support/eventually.ts'
import { aScreenshot, at } from '../../../../support/fakes/builders.ts'
import { type Call, conflict, type Fault, invalid } from '../../../../support/fakes/memory-cluster.ts'
import { answer, type DeliveryStage, entry, startLeader, withEntries } from './stage.ts'

const isRecord = ({ verb, resource, subresource }: Call) => verb === 'patch' && resource === 'screenshots' && subresource === 'status'
const deleteRequested = { annotations: { [Annotation.deleteRequested]: at(3).toISOString() } }

t.test('an event is posted once, signed with the key in the Secret, and its result is recorded, counted and logged', async (t) => {
  const stage = await startLeader(t, 'hook')
  const shot = await stage.add()
  await stage.passTo(500)
  t.equal(stage.posts.length, 1)
  const [{ url, headers, body }] = stage.posts as [(typeof stage.posts)[0]]
  const text = Buffer.from(stage.cluster.get(secrets, 'hook-signing-secret')?.data?.['signing-secret'] ?? '', 'base64').toString()
  t.equal(url, 'https://hooks.example.com/hook')
  t.equal(headers['x-webhook-signature'], hexSignature(body, text))
  t.match(headers, { 'x-webhook-attempt': '1', 'x-webhook-delivery': /^dlv_/, 'webhook-id': JSON.parse(body).id })
  t.match(JSON.parse(body), { type: 'screenshot.completed', data: { screenshot: { id: screenshotIdOf(shot.metadata) } } })

  t.strictSame(stage.cluster.get(screenshots, shot.metadata.name)?.status?.deliveries, {
    'screenshot.completed': { hook: entry(1, 3, 'ok') },
  })
  t.strictSame(await stage.metric('webhook_deliveries_total'), { 'event=screenshot.completed,result=ok': 1 })
  t.match(await stage.metric('webhook_first_attempt_latency_seconds'), {
    'le=0.5,event=screenshot.completed': undefined,
    'le=1,event=screenshot.completed': 1,
  })
  t.strictSame(await stage.logged(), [
    {
      ...{ delivery: headers['x-webhook-delivery'], event: headers['webhook-id'], type: 'screenshot.completed' },
      ...{ screenshot: screenshotIdOf(shot.metadata), attempt: 1, at: at(3).toISOString() },
      ...{ milliseconds: 12, statusCode: 200, outcome: 'success', answer: 'ok' },
    },
  ])
  t.match(stage.statisticsOf('hook'), { total: 1, successful: 1, failed: 0, lastSuccessTime: at(3).toISOString(), consecutiveFailures: 0 })
})

t.test('a failing delivery is recorded after each attempt, and then missed', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.receiver.answer = () => answer(500, { detail: 'broken' })
  const shot = await stage.add()
  const isOpen = (attempts: number, second: number) => ({ 'screenshot.completed': { hook: entry(attempts, second) } })
  t.match(stage.cluster.get(screenshots, shot.metadata.name)?.status?.deliveries, isOpen(1, 14))
  await stage.passTo(13.999)
  t.strictSame(stage.names(), ['hook 1'])
  await stage.passTo(14)
  t.match(stage.cluster.get(screenshots, shot.metadata.name)?.status?.deliveries, isOpen(2, 80))
  await stage.passTo(1_000)
  t.strictSame(stage.names(), ['hook 1', 'hook 2', 'hook 3'])
  t.strictSame(
    stage.posts.map(({ recorded }) => recorded),
    [undefined, isOpen(1, 14), isOpen(2, 80)],
  )
  t.equal(new Set(stage.posts.map(({ headers, body }) => headers['webhook-id'] + body)).size, 1)
  t.strictSame(stage.recorded(shot), { hook: 'failed 3' })
  t.strictSame(await stage.metric('webhook_deliveries_total'), { 'event=screenshot.completed,result=failed': 1 })
  const [missed, ...others] = stage.bucket.keys('undelivered/').map((key) => JSON.parse(stage.bucket.objects.get(key) ?? ''))
  t.match(missed, { webhook: 'hook', attempts: 3, delivery: stage.posts[0]?.headers['x-webhook-delivery'], at: at(80).toISOString() })
  t.strictSame(others, [])
  const lines = (await stage.logged()).map(({ attempt, last, detail }) => [attempt, last, detail])
  t.strictSame(lines, [
    [3, true, 'broken'],
    [2, undefined, 'broken'],
    [1, undefined, 'broken'],
  ])
  t.strictSame(stage.statisticsOf('hook'), {
    ...{ total: 1, successful: 0, failed: 1, lastStatusCode: 500, lastDeliveryTime: at(80).toISOString() },
    ...{ lastFailureTime: at(80).toISOString(), failingSince: at(3).toISOString(), consecutiveFailures: 3 },
    ...{ answers: 3, answerMilliseconds: 36 },
  })
})

t.test('an attempt is not repeated before the receiver’s Retry-After', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.receiver.answer = () => answer(503, { retryAfterMilliseconds: 17_000 })
  await stage.add()
  await stage.passTo(19.999)
  t.equal(stage.posts.length, 1)
  await stage.passTo(20)
  t.equal(stage.posts.length, 2)
})

t.test('a missed delivery is recorded although the bucket is unavailable', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.receiver.answer = () => answer(500)
  stage.bucket.goAway('write')
  const shot = await stage.add(withEntries({ hook: entry(3, 0) }))
  t.strictSame(stage.recorded(shot), { hook: 'failed 3' })
})

/** Faults of the write of a result, and whether it is repeated before the Screenshot changes. */
const faults: [what: string, fault: Fault, isRepeated: boolean][] = [
  ['the API server is unreachable', 'refused', true],
  ['the entry has changed', new KubeError({ status: 422, reason: 'Invalid', message: 'the server rejected our request' }), true],
  ['the API server rejects it', invalid('status.deliveries'), false],
]
for (const [what, fault, isRepeated] of faults) {
  t.test(`a result that cannot be recorded because ${what} is kept, and no attempt follows before`, async (t) => {
    const stage = await startLeader(t, 'hook')
    stage.cluster.fault = (call) => (isRecord(call) ? fault : undefined)
    stage.receiver.answer = () => answer(stage.posts.length === 1 ? 500 : 200)
    const shot = await stage.add()
    await stage.passTo(100)
    t.strictSame([stage.names(), stage.recorded(shot)], [['hook 1'], {}])
    stage.cluster.fault = () => undefined
    await stage.passTo(200)
    t.equal(stage.posts.length, isRepeated ? 2 : 1)
    const note = mergePatch({ metadata: { annotations: { note: 'changed' } } })
    await stage.cluster.client(screenshots).patch(shot.metadata.name, note)
    await stage.passTo(300)
    t.strictSame([stage.names(), stage.recorded(shot)], [['hook 1', 'hook 2'], { hook: 'ok 2' }])
    await stage.flush()
    t.match(stage.statisticsOf('hook'), { total: 1, successful: 1 })
  })
}

t.test('a result whose response of the API server is lost is not recorded twice, and the event is not posted again', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.cluster.fault = (call) => (isRecord(call) ? 'lost' : undefined)
  const shot = await stage.add()
  await stage.passTo(100)
  t.strictSame([stage.names(), stage.recorded(shot)], [['hook 1'], { hook: 'ok 1' }])
  t.equal(stage.cluster.writes.filter((write) => write.includes(shot.metadata.name)).length, 1)
})

t.test('a result is not written over what another leader has recorded, nor to an object that was created again', async (t) => {
  const stage = await startLeader(t, 'hook')
  let other: (shot: string) => void = () => {}
  stage.cluster.fault = (call) => {
    if (isRecord(call)) other(call.name ?? '')
    return undefined
  }
  /** Writes something before each result arrives. The cache learns it later. */
  const meanwhile = (name: string, again: Parameters<typeof aScreenshot>[0]) => {
    other = () => {
      other = () => {}
      stage.cluster.put<Screenshot>(screenshots, aScreenshot({ name, ...again }))
    }
    return stage.add({ name, metadata: { uid: `uid-of-${name}` } })
  }
  for (const [name, again, expected] of [
    ['ended', { metadata: { uid: 'uid-of-ended' }, ...withEntries({ hook: entry(2, 9, 'ok') }) }, { hook: 'ok 2' }],
    ['beside', { metadata: { uid: 'uid-of-beside' }, ...withEntries({ gone: entry(2, 9, 'ok') }) }, { gone: 'ok 2', hook: 'ok 1' }],
    ['fresh', { status: { phase: 'Running' } }, {}],
  ] as const) {
    const shot = await meanwhile(name, again)
    await stage.passTo(stage.clock.second + 50)
    t.strictSame(stage.recorded(shot), expected, name)
  }
  const shot = await stage.add({ name: 'second', ...withEntries({ hook: entry(1, 400) }) })
  other = () => stage.cluster.put(screenshots, { ...shot, ...withEntries({ hook: entry(3, 900) }) })
  await stage.passTo(450)
  t.strictSame(stage.recorded(shot), { hook: 'open 3' })
})

t.test('results of one Screenshot are written together with those of other events and webhooks', async (t) => {
  const stage = await startLeader(t, 'a', 'b')
  await stage.subscribe('queue', { events: ['screenshot.queued'] })
  const shot = await stage.add(withEntries({ before: entry(3, 2, 'failed') }))
  t.strictSame(stage.recorded(shot), { before: 'failed 3', a: 'ok 1', b: 'ok 1' })
  t.strictSame(stage.recorded(shot, 'screenshot.queued'), { queue: 'ok 1' })
  t.equal(stage.cluster.writes.filter((write) => write.includes(shot.metadata.name)).length, 1)
  const completed = stage.posts.filter(({ headers }) => headers['x-webhook-event'] === 'screenshot.completed')
  t.equal(new Set(completed.map(({ headers }) => headers['webhook-id'])).size, 1, 'one event')
  t.equal(new Set(completed.map(({ headers }) => headers['x-webhook-delivery'])).size, 2, 'two deliveries')
})

t.test('an attempt goes to the URL that the webhook has then, signed with its present secrets', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.receiver.answer = () => answer(500)
  await stage.add()
  const secret = newSigningSecret()
  const sealed = await seal(secret, sealedForWebhook(stage.cluster.get(webhooks, 'hook')!), toSealingKey(stage.deps.keys.openingKeys[0]!))
  await stage.change(webhooks, 'hook', { spec: { url: 'https://hooks.example.com/new', signingSecrets: [{ sealed }] } })
  await stage.passTo(14)
  await eventually('the secret is opened', async () => stage.posts.length === 2)
  const [first, second] = stage.posts
  t.strictSame(stage.names(), ['hook 1', 'new 2'])
  t.equal(second?.body, first?.body)
  t.equal(second?.headers['x-webhook-signature'], hexSignature(second!.body, secret))
})

t.test('only webhooks of the account receive an event, and none for a Screenshot that is being deleted or is not valid', async (t) => {
  const stage = await startLeader(t, 'hook', 'off')
  await stage.subscribe('foreign', { accountName: 'acme' })
  await stage.subscribe('standard', { isDefault: true })
  await stage.disable('off')
  await stage.add({ name: 'going', metadata: { deletionTimestamp: at(3).toISOString(), finalizers: ['x'] } })
  await stage.add({ name: 'odd', spec: { url: 7 as never } })
  t.strictSame(stage.names(), [])
  t.notOk(stage.cluster.writes.some((write) => write.includes('screenshots')))
  await stage.add()
  t.strictSame(stage.names(), ['hook 1'])
})

t.test('an open delivery that its webhook no longer wants is given up, with a line in its log', async (t) => {
  const stage = await startLeader(t, 'hook', 'off')
  await stage.disable('off')
  const shot = await stage.add(withEntries({ off: entry(2, 9), gone: entry(1, 9) }))
  t.strictSame(stage.recorded(shot), { hook: 'ok 1', off: 'failed 2', gone: 'failed 1' })
  t.strictSame(await stage.metric('webhook_deliveries_total'), {
    'event=screenshot.completed,result=ok': 1,
    'event=screenshot.completed,result=failed': 2,
  })
  const line = (await stage.logged()).find(({ outcome }) => outcome === 'withdrawn')
  const event = stage.posts[0]?.headers['webhook-id']
  t.match(line, {
    event,
    screenshot: screenshotIdOf(shot.metadata),
    type: 'screenshot.completed',
    attempt: 2,
    last: true,
    at: at(3).toISOString(),
  })
  t.match(stage.statisticsOf('off'), { total: 0, failed: 1, lastStatusCode: undefined })
  t.equal((await stage.logged()).length, 2, 'a webhook that is gone has no log')
})

for (const [what, metadata] of Object.entries({ '': {}, ', although the deletion of its Screenshot was requested': deleteRequested })) {
  t.test(`the result of a post is recorded when its webhook was disabled or deleted meanwhile${what}`, async (t) => {
    for (const change of [(stage: DeliveryStage) => stage.disable('hook'), (stage: DeliveryStage) => stage.remove(webhooks, 'hook')]) {
      for (const [statusCode, result] of [
        [200, 'ok 1'],
        [500, 'failed 1'],
      ] as const) {
        const stage = await startLeader(t, 'hook')
        const respond = stage.hold()
        const shot = await stage.add()
        await stage.cluster.client(screenshots).patch(shot.metadata.name, mergePatch({ metadata }))
        await change(stage)
        const recorded: unknown[] = []
        stage.reflectors.screenshots.addListener(() => recorded.push(stage.recorded(shot)))
        await respond(statusCode)
        t.ok(
          recorded.some((entries) => (entries as Record<string, string>).hook === result),
          result,
        )
        t.equal(stage.cluster.get(screenshots, shot.metadata.name) === undefined, what !== '')
      }
    }
  })
}

t.test('status.deliveries never gets more than 64 entries of an event, and the recorded ones stay', async (t) => {
  const names = Array.from({ length: 63 }, (_, n) => `hook-${n}`)
  const stage = await startLeader(t, ...names)
  const shot = await stage.add(withEntries({ 'gone-1': entry(1, 9), 'gone-2': entry(1, 9), 'gone-3': entry(1, 9) }))
  const recorded = stage.recorded(shot)
  t.strictSame([Object.keys(recorded).length, stage.posts.length], [64, 61])
  t.equal(recorded['gone-3'], 'failed 1')
})

t.test('a Screenshot that is created again is posted anew, and gets no result of the object before', async (t) => {
  const stage = await startLeader(t, 'hook')
  const respond = stage.hold()
  await stage.add({ name: 'shot' })
  const respondAgain = stage.hold()
  await stage.remove(screenshots, 'shot')
  const again = await stage.add({ name: 'shot' })
  await respond(200)
  t.strictSame([stage.posts.length, stage.recorded(again)], [2, {}])
  await respondAgain(500)
  t.strictSame(stage.recorded(again), { hook: 'open 1' })
})

t.test('the result of a post is dropped when its Screenshot was deleted, also if the cache has it still', async (t) => {
  const stage = await startLeader(t, 'hook')
  const respond = stage.hold()
  await stage.add({ name: 'shot' })
  await stage.remove(screenshots, 'shot')
  await respond(200)
  stage.receiver.answer = () => answer(200)
  stage.cluster.fault = (call) => (isRecord(call) ? new KubeError({ status: 404, reason: 'NotFound', message: 'gone' }) : undefined)
  await stage.add()
  await stage.passTo(100)
  t.strictSame([stage.posts.length, await stage.metric('webhook_deliveries_total')], [2, {}])
  await stage.flush()
  t.equal(stage.statisticsOf('hook'), undefined)
})

for (const [what, fault] of Object.entries({
  'is deleted': undefined,
  'was deleted by another client': new KubeError({ status: 404, reason: 'NotFound', message: 'gone' }),
  'was created again': conflict(),
})) {
  t.test(`a Screenshot whose deletion was requested ${what} once its deliveries have ended, and leaves the cache at once`, async (t) => {
    const stage = await startLeader(t, 'hook')
    stage.cluster.fault = ({ verb }) => (verb === 'delete' ? fault : undefined)
    const shot = await stage.add({ metadata: deleteRequested, ...withEntries({ hook: entry(1, 3, 'ok') }) })
    t.strictSame(stage.names(), [])
    t.notOk(stage.reflectors.screenshots.lister.has(`default/${shot.metadata.name}`))
    t.equal(stage.cluster.writes.filter((write) => write.startsWith('delete screenshots/')).length, 1)
  })
}

t.test('a Screenshot whose deletion was requested starts no delivery, and its open ones go on in the bucket', async (t) => {
  const stage = await startLeader(t, 'hook', 'other')
  const respond = stage.hold()
  const due = await stage.add({ name: 'due', metadata: deleteRequested, ...withEntries({ hook: entry(1, 2) }) })
  t.strictSame(stage.names(), ['hook 2'], 'it is due')
  t.ok(stage.cluster.get(screenshots, 'due'), 'it waits for its post')
  await respond(500)
  const [key = '', ...others] = stage.bucket.keys('undelivered/open/')
  t.match(JSON.parse(stage.bucket.objects.get(key) ?? ''), { webhook: 'hook', attempts: 2, screenshot: screenshotIdOf(due.metadata) })
  t.strictSame([others, stage.cluster.get(screenshots, 'due')], [[], undefined])
  const end = stage.bucket.goAway('write')
  await stage.add({ name: 'later', metadata: deleteRequested, ...withEntries({ hook: entry(1, 90) }) })
  t.ok(stage.cluster.get(screenshots, 'later'), 'it stays while the bucket is unavailable')
  end()
  await stage.passTo(60)
  t.equal(stage.cluster.get(screenshots, 'later'), undefined)
})
