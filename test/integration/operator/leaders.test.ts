import t from 'tap'
import { validatingAdmissionPolicyBindings } from '../../../crds/client/kinds.ts'
import { mergePatch, Resource } from '../../../crds/client/resource.ts'
import { attemptMilliseconds } from '../../../crds/src/dispatch/dispatch.ts'
import { isFinished, type Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { NAMESPACE } from '../admission/release.ts'
import { startStage } from './stage.ts'

const stage = await startStage(t)
const { node } = stage
await stage.setPool({ minIdle: 2, maxPods: 3 })

/** A capture that lasts until it is released. */
function heldCapture() {
  const { promise, resolve } = Promise.withResolvers<void>()
  node.capture = () => promise
  return resolve
}

/** A Screenshot with a claim for a runner, of some time ago. */
async function claim(runner: object, ageMilliseconds = 0): Promise<Screenshot> {
  const { metadata } = await stage.create()
  const startTime = new Date(Date.now() - ageMilliseconds).toISOString()
  const status = { phase: 'Running', runner, attempt: 1, startTime, conditions: [] }
  return stage.shots.patch(metadata.name, mergePatch({ status }), { subresource: 'status' })
}

/** Lets the deadline of a capture pass. A change of the Screenshot makes the operator look at the clock. */
async function passDeadline(shot: Screenshot): Promise<void> {
  stage.clock.ahead = attemptMilliseconds(undefined) + 5_000
  await stage.shots.patch(shot.metadata.name, mergePatch({ metadata: { annotations: { seen: 'again' } } }))
}

t.beforeEach(() => {
  node.capture = async () => {}
  node.orders.length = 0
  stage.clock.ahead = 0
})

t.test('a new leader adopts a capture that its runner is still working on', async (t) => {
  const first = await stage.lead()
  await stage.whenIdle(2)
  const letGo = heldCapture()
  const shot = await stage.create()
  await stage.whenRunning(shot)
  await first.stop()
  const second = await stage.lead()
  await eventually('the new leader sees it', async () => (await stage.pool()).status?.busy === 1)
  letGo()
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 1 })
  t.equal(node.orders.length, 1)
  await second.stop()
})

t.test('a new leader finds a capture that ended without a leader', async (t) => {
  const first = await stage.lead()
  const letGo = heldCapture()
  const shot = await stage.create()
  await stage.whenRunning(shot)
  await first.stop()
  letGo()
  await stage.whenFinished(shot)
  const second = await stage.lead()
  node.capture = async () => {}
  t.match((await stage.whenFinished(await stage.create())).status, { phase: 'Completed', attempt: 1 })
  await second.stop()
})

t.test('a new leader sends the order of a claim that its predecessor could not send', async (t) => {
  const [runner] = node.runners.values()
  const shot = await claim({ pod: runner?.pod, uid: runner?.uid }, 15_000)
  const leader = await stage.lead()
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 1, runner: { uid: runner?.uid } })
  t.equal(node.orders.length, 1)
  await leader.stop()
})

t.test('a new leader releases the claim of a pod that was deleted without a leader', async (t) => {
  const shot = await claim({ pod: 'default-99', uid: 'gone' })
  const leader = await stage.lead()
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 2, lostRunners: 1 })
  await leader.stop()
})

t.test('two operators that both consider themselves the leader lose nothing and duplicate nothing', async (t) => {
  const leaders = await Promise.all([stage.lead(), stage.lead()])
  node.capture = () => new Promise((resolve) => setTimeout(resolve, 10))
  const shots = await Promise.all(Array.from({ length: 40 }, (_, n) => stage.create({ accountName: `account-${n % 4}` })))
  const done = await Promise.all(shots.map((shot) => stage.whenFinished(shot)))
  t.strictSame(
    done.map(({ status }) => status?.phase),
    shots.map(() => 'Completed'),
  )
  const files = await Promise.all(done.map((shot) => stage.fileOf(shot)))
  t.strictSame(
    files,
    done.map(({ metadata, status }) => `${metadata.name} attempt ${status?.attempt} on ${status?.runner?.pod}`),
    'each file belongs to its record',
  )
  t.ok(
    done.every(({ status }) => status?.attempt === 1),
    'nothing was captured twice',
  )
  t.equal(node.orders.length, shots.length)
  t.ok((await stage.poolPods()).length <= 3)
  await Promise.all(leaders.map((leader) => leader.stop()))
})

t.test('a runner that was frozen in attempt 1 and resumes after attempt 2 changes nothing', async (t) => {
  const leader = await stage.lead()
  await stage.whenIdle(2)
  const letGo = heldCapture()
  const shot = await stage.create()
  await stage.whenRunning(shot)
  const frozen = node.runnerOf(shot.metadata.name)
  frozen?.freeze()
  node.isLost = true
  node.capture = async () => {}
  await passDeadline(shot)
  const done = await stage.whenFinished(shot)
  t.match(done.status, { phase: 'Completed', attempt: 2, lostRunners: 1 })
  t.not(done.status?.runner?.uid, frozen?.uid)
  t.notOk(
    (await stage.poolPods()).some(({ metadata }) => metadata.uid === frozen?.uid),
    'its pod was force-deleted',
  )
  frozen?.thaw()
  letGo()
  await new Promise((resolve) => setTimeout(resolve, 500))
  const after = await stage.shots.get(shot.metadata.name)
  t.strictSame(after.status, done.status)
  t.equal(await stage.fileOf(shot), `${shot.metadata.name} attempt 2 on ${done.status?.runner?.pod}`)
  node.isLost = false
  await leader.stop()
})

t.test('a runner that responds after its deadline fails the Screenshot with TIMEOUT', async (t) => {
  const leader = await stage.lead()
  const letGo = heldCapture()
  const shot = await stage.create()
  await stage.whenRunning(shot)
  await passDeadline(shot)
  t.match((await stage.whenFinished(shot)).status, { phase: 'Failed', attempt: 1, result: { error: { code: 'TIMEOUT' } } })
  letGo()
  await leader.stop()
})

t.test('no operator dispatches without the admission policy for runners', async (t) => {
  const bindings = new Resource(stage.release.admin, validatingAdmissionPolicyBindings)
  const guarding = await bindings.get(`${NAMESPACE}-tintype-runner-status`)
  await bindings.delete(guarding.metadata.name)
  const leader = await stage.lead()
  const shot = await stage.create()
  await eventually('the pool reports it', async () => {
    const { status } = await stage.pool()
    return (
      findCondition(status?.conditions, 'Guarded')?.status === 'False' &&
      findCondition(status?.conditions, 'Ready')?.reason === 'NotGuarded'
    )
  })
  t.notOk(isFinished(await stage.shots.get(shot.metadata.name)))
  t.equal(node.orders.length, 0)
  await bindings.create({ metadata: { name: guarding.metadata.name }, spec: guarding.spec ?? {} })
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 1 })
  t.equal(findCondition((await stage.pool()).status?.conditions, 'Guarded')?.status, 'True')
  await leader.stop()
})
