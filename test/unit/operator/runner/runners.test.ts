import t from 'tap'
import { poolDefaults } from '../../../../crds/src/kinds/runner-pool.ts'
import { EXPECTATION_MILLISECONDS, Expectations } from '../../../../operator/src/runner/expectations.ts'
import { ClockOffsets, MAX_OFFSET_MILLISECONDS } from '../../../../operator/src/runner/runner-client.ts'
import { chooseRunner, isIdle, mayServe } from '../../../../operator/src/runner/runners.ts'
import { aRunnerPool, at, completedStatus, NOON } from '../../../support/fakes/builders.ts'
import { aPod, aRunner } from '../../../support/fakes/runners.ts'
import { identity, runnerStores } from './runner-stores.ts'

const withoutSandbox = { chromiumSandbox: false, jail: false, detail: 'no' }
const pool = aRunnerPool()
const now = NOON.getTime()

const choices = [
  {
    name: 'one whose browser belongs to the account',
    idle: [aRunner({ name: 'fresh' }), aRunner({ name: 'own', accountName: 'red' }), aRunner({ name: 'other', accountName: 'blue' })],
    chosen: 'own',
  },
  {
    name: 'else one with an unused browser',
    idle: [aRunner({ name: 'other', accountName: 'blue' }), aRunner({ name: 'fresh' })],
    chosen: 'fresh',
  },
  {
    name: 'else the one that has been idle longest',
    idle: [aRunner({ name: 'young', accountName: 'blue', idleSince: at(9).getTime() }), aRunner({ name: 'old', accountName: 'green' })],
    chosen: 'old',
  },
  {
    name: 'one that is not storing before one that is',
    idle: [aRunner({ name: 'storing', workingOn: 'default/a', isStoring: true }), aRunner({ name: 'young', idleSince: at(9).getTime() })],
    chosen: 'young',
  },
  {
    name: 'never one without a sandbox that another account has used',
    idle: [aRunner({ accountName: 'blue', sandbox: withoutSandbox })],
    chosen: undefined,
  },
]
for (const { name, idle, chosen } of choices)
  t.test(`chooseRunner chooses ${name}`, async (t) => t.equal(chooseRunner(idle, 'red')?.name, chosen))

const able = { available: true, detail: '' }
const unable = { available: false, detail: 'no ffmpeg' }
const idleness = [
  { name: 'a ready runner with a proved identity', runner: aRunner(), idle: true },
  { name: 'a runner without an identity', runner: aRunner({ sandbox: undefined }), idle: false },
  { name: 'a busy runner', runner: aRunner({ workingOn: 'default/a' }), idle: false },
  { name: 'a runner that is storing its capture', runner: aRunner({ workingOn: 'default/a', isStoring: true }), idle: true },
  { name: 'a runner that is not ready', runner: aRunner({ state: 'waiting' }), idle: false },
  { name: 'a runner in backoff', runner: aRunner({ backoffUntil: now + 1 }), idle: false },
  { name: 'a runner at its capture limit', runner: aRunner({ captures: poolDefaults.capturesPerPod }), idle: false },
  { name: 'a runner without a sandbox', runner: aRunner({ sandbox: withoutSandbox }), idle: true },
  { name: 'a runner without a required sandbox', runner: aRunner({ sandbox: withoutSandbox }), mode: 'required' as const, idle: false },
  { name: 'a runner that does not report videos in a pool that records them', runner: aRunner(), video: true, idle: false },
  { name: 'a runner that cannot record videos where it must', runner: aRunner({ video: unable }), video: true, idle: false },
  { name: 'a runner that records videos where it must', runner: aRunner({ video: able }), video: true, idle: true },
  { name: 'a runner that cannot record videos where it need not', runner: aRunner({ video: unable }), idle: true },
]
for (const { name, runner, mode = 'auto' as const, video = false, idle } of idleness) {
  t.test(`isIdle is ${idle} for ${name}`, async (t) => t.equal(isIdle(runner, { ...pool.spec, sandbox: { mode }, video }, now), idle))
}

t.test('mayServe dedicates a runner without a sandbox to one account', async (t) => {
  t.ok(mayServe(aRunner({ sandbox: withoutSandbox }), 'red'))
  t.ok(mayServe(aRunner({ sandbox: withoutSandbox, accountName: 'red' }), 'red'))
  t.notOk(mayServe(aRunner({ sandbox: withoutSandbox, accountName: 'red' }), 'blue'))
  t.ok(mayServe(aRunner({ accountName: 'red' }), 'blue'))
})

t.test('Runners restores from the records how much a runner was used', async (t) => {
  const { runners, claim } = runnerStores('a')
  claim('ended', 'red', completedStatus())
  runners.noteIdentity('uid-of-a', identity, now)
  t.match(runners.find('default/a', now), { captures: 1, accountName: 'red', workingOn: undefined })
})

t.test('Runners offers a runner that has taken a picture for one more order, but not while both are stored', async (t) => {
  const { screenshots, runners, claim } = runnerStores('a')
  const found = () => {
    const runner = runners.find('default/a', now)
    const isFound = runners.idle('default', pool.spec, now).length === 1
    t.equal(isFound, runner !== undefined && isIdle(runner, pool.spec, now), 'idle() returns the same')
    return runner
  }
  runners.noteIdentity('uid-of-a', identity, now)
  t.match(found(), { workingOn: undefined })
  claim('one')
  t.match(found(), { workingOn: 'default/one', isStoring: false })
  runners.noteTakenPicture('uid-of-a', 'default/one')
  t.match(found(), { workingOn: 'default/one', isStoring: true })
  runners.reserve('uid-of-a', 'default/two')
  t.match(found(), { isStoring: false }, 'promised')
  runners.release('default/two', now)
  claim('two')
  t.match(found(), { isStoring: false }, 'the second one is being captured')
  runners.noteTakenPicture('uid-of-a', 'default/two')
  t.match(found(), { isStoring: false }, 'both are being stored')
  screenshots.delete('default/one')
  t.match(found(), { workingOn: 'default/two', isStoring: true })
  screenshots.delete('default/two')
  t.match(found(), { workingOn: undefined, isStoring: false })
})

t.test('Runners reports a runner as terminating when this leader has deleted it, before the watch does', async (t) => {
  const { runners, expectations } = runnerStores('a')
  expectations.expectDeletion('uid-of-a', now)
  t.equal(runners.find('default/a', now)?.state, 'terminating')
})

t.test('Runners doubles the backoff of a runner after each order that it did not accept, until it accepts one', async (t) => {
  const { runners } = runnerStores('a')
  const rest = () => (runners.find('default/a', now)?.backoffUntil ?? 0) - now
  const rests = [0, 0, 0, 0, 0, 0].map(() => {
    runners.noteLoss('uid-of-a', now)
    return rest()
  })
  t.strictSame(rests, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000])
  runners.noteEnded('uid-of-a', now)
  t.equal(runners.find('default/a', now)?.losses, 0)
})

t.test('Runners remembers how a deleted runner ended', async (t) => {
  const { runners } = runnerStores('a')
  const status = { ...aPod().status, conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }] }
  runners.noteDeletedPod(aPod({ name: 'a', status }))
  t.match(runners.endOf('uid-of-a'), { cause: 'drained' })
  t.equal(runners.identityOf('uid-of-a'), undefined)
  runners.noteDeletedPod(aPod({ name: 'b' }))
  t.equal(runners.endOf('uid-of-b'), undefined, 'its status did not say')
})

t.test('Runners says of an ended pod that it was shared by accounts, until its last claim is released', async (t) => {
  const { screenshots, runners, claim } = runnerStores('a')
  claim('one', 'red')
  claim('two', 'red')
  t.equal(runners.wasShared('uid-of-a'), false)
  claim('two', 'blue')
  t.equal(runners.wasShared('uid-of-a'), true)
  screenshots.delete('default/two')
  t.equal(runners.wasShared('uid-of-a'), true)
  t.equal(runners.wasShared('uid-of-b'), false)
})

t.test('Runners does not record a loss of a deleted runner', async (t) => {
  const { runners, pods } = runnerStores()
  pods.set(aPod({ name: 'a' }))
  runners.noteLoss('uid-of-a', now)
  t.match(runners.find('default/a', now), { losses: 0, backoffUntil: 0 })
})

t.test('ClockOffsets records the offset of a clock, and reports the change once', async (t) => {
  const clocks = new ClockOffsets()
  t.equal(clocks.note('a', 100_000, 10_000), true)
  t.equal(clocks.of('a'), 90_000)
  t.equal(clocks.note('a', 101_000, 11_500), false)
  t.equal(clocks.of('b'), 0)
  t.equal(clocks.note('a', 20_000, 20_000), true, 'the clock was corrected')
  t.equal(clocks.of('a'), 0)
})

for (const [name, runnerTime, now] of [
  ['a difference of a second, which is the rounding of a Date', 9_000, 10_900],
  ['an offset beyond the maximum', MAX_OFFSET_MILLISECONDS + 1, 0],
  ['a response without a Date', Number.NaN, 0],
] as const) {
  t.test(`ClockOffsets ignores ${name}`, async (t) => {
    const clocks = new ClockOffsets()
    t.equal(clocks.note('a', runnerTime, now), false)
    t.equal(clocks.of('a'), 0)
  })
}

t.test('ClockOffsets drops the oldest of too many entries', async (t) => {
  const clocks = new ClockOffsets()
  for (let n = 0; n <= 4_096; n++) clocks.note(`pod-${n}`, 60_000, 0)
  t.strictSame([clocks.of('pod-0'), clocks.of('pod-1')], [0, 60_000])
})

t.test('Expectations counts a created pod until the watch shows it, or the creation was rejected', async (t) => {
  const expectations = new Expectations()
  const unseen = (...seen: string[]) => expectations.unseenCreations(new Set(seen), 1)
  for (const name of ['a', 'b']) expectations.expectCreation(name, 0)
  t.strictSame(unseen(), ['a', 'b'])
  t.strictSame(unseen('a'), ['b'])
  t.strictSame(unseen(), ['b'], 'it was seen once, so its later deletion does not matter')
  expectations.forget('b')
  t.strictSame(unseen(), [])
})

t.test('Expectations forgets a change that the watch has not shown for a long time', async (t) => {
  const expectations = new Expectations()
  expectations.expectCreation('default-1', 0)
  expectations.expectDeletion('uid', 0)
  t.ok(expectations.isDeleted('uid', EXPECTATION_MILLISECONDS))
  t.strictSame(expectations.unseenCreations(new Set(), EXPECTATION_MILLISECONDS + 1), [])
  t.notOk(expectations.isDeleted('uid', EXPECTATION_MILLISECONDS + 1))
})

t.test('Expectations reports a deleted pod, but not one whose deletion was rejected', async (t) => {
  const expectations = new Expectations()
  expectations.expectDeletion('uid', 0)
  t.ok(expectations.isDeleted('uid', 1))
  expectations.forget('uid')
  t.notOk(expectations.isDeleted('uid', 2))
})
