import t from 'tap'
import { screenshots, secrets, webhooks } from '../../../../../crds/client/kinds.ts'
import { hexSignature } from '../../../../../crds/src/crypto/signatures.ts'
import { ConditionType, findCondition } from '../../../../../crds/src/schema/conditions.ts'
import { at, completedStatus } from '../../../../support/fakes/builders.ts'
import { answer, type DeliveryStage, entry, startDeliveries, startLeader, withEntries } from './stage.ts'

/** Posts to one endpoint at a time. */
const AT_ONCE = 8

async function addMany(stage: Pick<DeliveryStage, 'add'>, count: number, given: Parameters<DeliveryStage['add']>[0] = {}) {
  for (let n = 0; n < count; n++) await stage.add({ name: `shot-${n}`, ...given })
}

t.test('posts to an endpoint that fails pause for 30 s, also those that wait for their turn, and use up no attempt', async (t) => {
  const stage = await startLeader(t, 'hook', 'other')
  await stage.disable('other')
  const respond = stage.hold()
  await addMany(stage, 20)
  t.equal(stage.posts.length, AT_ONCE)
  await respond(500)
  t.equal(stage.posts.length, 2 * AT_ONCE, 'ten failures were known when the next ones were due')
  t.match(findCondition(stage.cluster.get(webhooks, 'hook')?.status?.conditions, ConditionType.answering), { reason: 'CircuitOpen' })
  t.match([await stage.metric('webhook_circuits_open'), await stage.metric('webhook_circuit_openings_total')], [{ '': 1 }, { '': 1 }])
  stage.receiver.answer = () => answer(200)
  await stage.passTo(31.999)
  t.equal(stage.posts.length, 2 * AT_ONCE)
  t.strictSame(stage.recorded({ metadata: { name: 'shot-19' } } as never), {})
  await stage.passTo(33)
  t.strictSame(stage.recorded({ metadata: { name: 'shot-19' } } as never), { hook: 'ok 1' })
  t.strictSame(await stage.metric('webhook_circuits_open'), {})
  t.match(findCondition(stage.cluster.get(webhooks, 'hook')?.status?.conditions, ConditionType.answering), { status: 'True' })
})

t.test('receivers of one account that hang do not take the posts of another account', async (t) => {
  const stage = await startDeliveries(t, { webhook: { maxPostsPerAccount: 3 } })
  stage.lead()
  for (const name of ['hanging-1', 'hanging-2']) await stage.subscribe(name, { accountName: 'acme' })
  await stage.subscribe('victim')
  await stage.passTo(3)
  const respond = stage.hold()
  await addMany(stage, 2, { spec: { accountName: 'acme' } })
  t.equal(stage.posts.length, 3, 'the fourth post of the account waits')
  stage.receiver.answer = () => answer(200)
  const shot = await stage.add()
  t.strictSame(stage.recorded(shot), { victim: 'ok 1' })
  await respond(200)
  t.equal(stage.posts.length, 5)
})

t.test('a failed attempt is repeated in time while another endpoint of the Screenshot hangs', async (t) => {
  const stage = await startLeader(t, 'failing', 'hanging')
  const respond = stage.hold()
  const wait = stage.receiver.answer
  stage.receiver.answer = (post) => (post.name.startsWith('hanging') ? wait(post) : answer(500))
  const shot = await stage.add()
  t.strictSame(stage.recorded(shot), {}, 'one write could hold both results')
  await stage.passTo(15)
  t.strictSame([stage.names(), stage.recorded(shot)], [['failing 1', 'hanging 1', 'failing 2'], { failing: 'open 1' }])
  await respond(200)
  t.strictSame(stage.recorded(shot), { failing: 'open 2', hanging: 'ok 1' })
})

t.test('posts that could not be sent do not count as failures of the endpoint', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.cluster.fault = ({ verb, resource }) => (verb === 'get' && resource === 'secrets' ? 'refused' : undefined)
  await addMany(stage, 30)
  stage.cluster.fault = () => undefined
  await stage.passTo(8)
  t.equal(stage.posts.length, 30)
})

for (const [what, change] of Object.entries({
  'its webhook was deleted': (stage: DeliveryStage) => stage.remove(webhooks, 'hook'),
  'its webhook was disabled': (stage: DeliveryStage) => stage.disable('hook'),
  'its webhook is being deleted': async (stage: DeliveryStage) => {
    const hook = stage.cluster.get(webhooks, 'hook')!
    stage.cluster.put(webhooks, { ...hook, metadata: { ...hook.metadata, deletionTimestamp: at(4).toISOString(), finalizers: ['x'] } })
    await stage.settle()
  },
  'its webhook subscribes to other events': (stage: DeliveryStage) =>
    stage.change(webhooks, 'hook', { spec: { events: ['screenshot.failed'] } }),
  'its Screenshot was deleted': (stage: DeliveryStage) => stage.remove(screenshots, 'shot-8'),
  'its Screenshot is archived': async (stage: DeliveryStage) =>
    stage.deps.archiving.hold([stage.reflectors.screenshots.lister.get('default/shot-8')!]),
})) {
  t.test(`an event is not posted when ${what} while it waited for its turn`, async (t) => {
    const stage = await startLeader(t, 'hook')
    const respond = stage.hold()
    await addMany(stage, AT_ONCE + 1)
    await change(stage)
    await respond(200)
    await stage.passTo(100)
    t.equal(stage.posts.length, AT_ONCE)
    t.strictSame(stage.recorded({ metadata: { name: 'shot-8' } } as never), {})
  })
}

t.test('a post without a secret waits five seconds, in which the operator creates the Secret again', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.cluster.remove(secrets, 'hook-signing-secret')
  const shot = await stage.add()
  t.ok(stage.cluster.get(secrets, 'hook-signing-secret'))
  await stage.passTo(7.999)
  t.equal(stage.posts.length, 0)
  await stage.passTo(8)
  t.strictSame([stage.names(), stage.recorded(shot)], [['hook 1'], { hook: 'ok 1' }])
})

t.test('a delivery without a secret is dropped when its webhook is deleted', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.cluster.fault = ({ verb, resource }) => (verb === 'get' && resource === 'secrets' ? 'refused' : undefined)
  const shot = await stage.add()
  await stage.remove(webhooks, 'hook')
  await stage.passTo(100)
  t.strictSame([stage.posts.length, stage.recorded(shot)], [0, {}])
})

for (const [attempt, statusCode, isKept] of [
  [1, 500, true],
  [1, 200, false],
  [2, 500, false],
] as const) {
  t.test(`the bytes of an event are ${isKept ? '' : 'not '}kept after attempt ${attempt} with status ${statusCode}`, async (t) => {
    const stage = await startLeader(t, 'hook')
    stage.receiver.answer = () => answer(statusCode)
    await stage.add(attempt === 1 ? {} : withEntries({ hook: entry(attempt - 1, 3) }))
    const kept = stage.bucket.keys('events/').map((key) => stage.bucket.objects.get(key))
    t.strictSame(kept, isKept ? [stage.posts[0]?.body] : [])
  })
}

t.test('a leader that ends starts no post, records those that end, and leaves the others to the next one', async (t) => {
  const stage = await startLeader(t, 'hook')
  const respond = stage.hold()
  await addMany(stage, AT_ONCE + 1)
  const ended = stage.leader.end()
  await stage.add({ name: 'late' })
  await respond(200)
  await ended
  t.equal(stage.posts.length, AT_ONCE)
  t.strictSame(stage.recorded({ metadata: { name: 'shot-7' } } as never), { hook: 'ok 1' })
  t.equal(stage.statisticsOf('hook')?.total, AT_ONCE)
  stage.receiver.answer = () => answer(200)
  stage.lead()
  await stage.settle()
  t.equal(stage.posts.length, AT_ONCE + 2)
})

t.test('the archive gets the open deliveries of a Screenshot, unless one of them is posted, and no post starts meanwhile', async (t) => {
  const stage = await startLeader(t, 'hook', 'second')
  const { archiving } = stage.deps
  const open = await stage.add({ name: 'open', ...withEntries({ hook: entry(1, 60), second: entry(1, 3, 'ok'), gone: entry(1, 60) }) })
  t.match(archiving.openDeliveries.of(open), [{ webhook: 'hook', attempts: 1, at: entry(1, 60).at }])
  const respond = stage.hold()
  const posted = await stage.add({ name: 'posted' })
  t.equal(archiving.openDeliveries.of(posted), undefined)
  stage.cluster.fault = ({ verb }) => (verb === 'patch' ? 'refused' : undefined)
  await respond(200)
  t.equal(archiving.openDeliveries.of(posted), undefined, 'its results are not recorded')
  stage.cluster.fault = () => undefined
  await stage.passTo(4)
  t.strictSame(archiving.openDeliveries.of(posted), [])

  const none = await stage.add({ name: 'queued', status: { phase: 'Pending' } })
  archiving.hold([none])
  stage.cluster.put(screenshots, { ...none, status: completedStatus() })
  await stage.passTo(20)
  t.match(archiving.openDeliveries.of(none), [
    { webhook: 'hook', attempts: 0, at: entry(0, 20).at },
    { webhook: 'second', attempts: 0 },
  ])
  t.equal(stage.posts.length, 2)
  archiving.release([none], new Set())
  await stage.passTo(21)
  t.equal(stage.posts.length, 4)
  t.strictSame(archiving.openDeliveries.of(await stage.add({ name: 'odd', spec: { url: 7 as never } })), [], 'it is not valid')
})

t.test('an attempt that waits for its turn counts for the archive as not made', async (t) => {
  const stage = await startLeader(t, 'hook')
  stage.hold()
  await addMany(stage, AT_ONCE + 1, withEntries({ hook: entry(1, 3) }))
  const waiting = stage.reflectors.screenshots.lister.get('default/shot-8')!
  t.match(stage.deps.archiving.openDeliveries.of(waiting), [{ attempts: 1, at: entry(1, 3).at }])
})

t.test('the URL of a request receives its events, signed with the secret of the default webhook, which counts them', async (t) => {
  const stage = await startLeader(t)
  const webhookUrl = 'https://me.example.com/done'
  const without = await stage.add({ name: 'without', spec: { webhookUrl } })
  t.strictSame([stage.posts.length, stage.recorded(without)], [0, {}])
  await stage.subscribe('signer', { isDefault: true })
  const shot = await stage.add({ spec: { webhookUrl } })
  t.match(stage.posts.at(-1), { url: webhookUrl })
  t.match(stage.recorded(shot), { _request: 'ok 1' })
  const text = Buffer.from(stage.cluster.get(secrets, 'signer-signing-secret')?.data?.['signing-secret'] ?? '', 'base64').toString()
  t.equal(stage.posts.at(-1)?.headers['x-webhook-signature'], hexSignature(stage.posts.at(-1)!.body, text))
  t.match(await stage.logged(), [{ url: webhookUrl, outcome: 'success' }])
  t.equal(stage.statisticsOf('signer')?.total, stage.posts.length)
  t.match(
    stage.deps.archiving.openDeliveries.of(
      await stage.add({ name: 'z', spec: { webhookUrl }, ...withEntries({ _request: entry(1, 99) }) }),
    ),
    [{ webhook: '_request', url: webhookUrl }],
  )
})

t.test('counts of deliveries are written once for many, and again after a conflict', async (t) => {
  const stage = await startLeader(t, 'hook')
  const writes = () => stage.cluster.writes.filter((write) => write === 'patch webhooks/hook/status').length
  const before = writes()
  await addMany(stage, 2)
  await stage.flush()
  await stage.flush()
  t.strictSame([writes() - before, stage.statisticsOf('hook')?.total], [1, 2])
  stage.cluster.fault = ({ resource }) => (resource === 'webhooks' ? 'refused' : undefined)
  await stage.add({ name: 'third' })
  await stage.flush()
  stage.receiver.answer = () => answer(500)
  await stage.add({ name: 'fourth' })
  stage.cluster.fault = () => undefined
  await stage.flush()
  t.match(stage.statisticsOf('hook'), { total: 4, successful: 3, consecutiveFailures: 1, lastStatusCode: 500 })
  await stage.remove(webhooks, 'hook')
  await stage.flush()
})
