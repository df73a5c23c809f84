import t, { type Test } from 'tap'
import { accounts, runnerPools, screenshots } from '../../../../../crds/client/kinds.ts'
import type { Screenshot, ScreenshotSpec } from '../../../../../crds/src/kinds/screenshot.ts'
import { ConditionType, findCondition } from '../../../../../crds/src/schema/conditions.ts'
import { createPendingController } from '../../../../../operator/src/controllers/pending/controller.ts'
import { isPending } from '../../../../../operator/src/controllers/pending/decide.ts'
import { anAccount, aRunnerPool, aScreenshot, at } from '../../../../support/fakes/builders.ts'
import { startOperator } from '../../../../support/fakes/operator-stage.ts'

const LIMIT = 3
const TIMEOUT_SECONDS = 600

/** The controller of a leader that charges accounts, with the account `acme` and the default pool. */
async function start(t: Test) {
  const queue = { maxQueuedPerAccount: LIMIT, unrunnableMilliseconds: TIMEOUT_SECONDS * 1_000 }
  const stage = await startOperator(t, { queue })
  const { cluster, clock, passTo } = stage
  cluster.put(accounts, anAccount({ name: 'acme' }))
  cluster.put(runnerPools, aRunnerPool())
  stage.lead(createPendingController(stage.deps, { charges: true }).start)
  /** Lets the controller collect changes. */
  const gather = () => passTo(clock.second + 1)
  return {
    ...{ ...stage, gather },
    get: (name: string) => cluster.get<Screenshot>(screenshots, name),
    async add(names: readonly string[], spec: Partial<ScreenshotSpec> = {}): Promise<void> {
      for (const name of names) cluster.put<Screenshot>(screenshots, aScreenshot({ name, spec: { accountName: 'acme', ...spec } }))
      await gather()
    },
    /** Such as `a Pending PoolNotFound`. */
    states: () =>
      cluster
        .list<Screenshot>(screenshots)
        .map(({ metadata, status }) => `${metadata.name} ${status?.phase} ${findCondition(status?.conditions, 'Succeeded')?.reason}`),
  }
}

t.test('Screenshots of an unknown pool fail above the limit of their account, and the others after the timeout, uncharged', async (t) => {
  const stage = await start(t)
  await stage.add(['a', 'b', 'c', 'd'], { poolName: 'nowhere' })
  const waiting = ['a', 'b', 'c'].map((name) => `${name} Pending PoolNotFound`)
  t.strictSame(stage.states(), [...waiting, 'd Failed QueueFull'])
  await stage.passTo(100)
  t.equal(stage.events.length, 3, 'one Event each')
  t.match(findCondition(stage.get('a')?.status?.conditions, ConditionType.runnable), {
    ...{ status: 'False', reason: 'PoolNotFound' },
    message: /RunnerPool nowhere does not exist\. Create it, or create the Screenshot with another spec\.poolName/,
  })
  await stage.passTo(TIMEOUT_SECONDS)
  t.strictSame(stage.states().slice(0, LIMIT), waiting)
  await stage.passTo(TIMEOUT_SECONDS + 2)
  t.match(stage.get('a')?.status, { phase: 'Failed', result: { error: { code: 'POOL_NOT_FOUND' } } })
  t.equal(findCondition(stage.get('a')?.status?.conditions, 'Charged'), undefined)
})

t.test('the oldest Screenshots from kubectl stay, and all that a gateway accepted, and those that cannot run do not count', async (t) => {
  const stage = await start(t)
  await stage.add(['a', 'b', 'c'], { poolName: 'nowhere' })
  const paid = { reservation: 'res_1' }
  for (const [name, second, spec] of [
    ['oldest', 1, paid],
    ['newest', 9, {}],
    ['rest', 8, paid],
    ['same-second-b', 5, {}],
    ['same-second-a', 5, {}],
    ['same-second-c', 5, {}],
    ['older', 2, {}],
  ] as const) {
    const metadata = { creationTimestamp: at(second).toISOString() }
    stage.cluster.put<Screenshot>(screenshots, aScreenshot({ name, metadata, spec: { accountName: 'acme', ...spec } }))
  }
  await stage.gather()
  const failed = stage.states().filter((state) => state.includes('Failed'))
  const expected = ['newest', 'same-second-b', 'same-second-c'].map((name) => `${name} Failed QueueFull`)
  t.strictSame(failed.sort(), expected)
  t.notOk(
    stage.cluster.writes.some((write) => write.includes('/older')),
    'nothing to say',
  )
})

t.test('Screenshots of accounts that do not exist share one limit, and can run once their account exists', async (t) => {
  const stage = await start(t)
  for (const accountName of ['x', 'y']) await stage.add([`${accountName}-1`, `${accountName}-2`], { accountName })
  t.strictSame(stage.states(), [
    ...['x-1 Pending AccountNotFound', 'x-2 Pending AccountNotFound'],
    ...['y-1 Pending AccountNotFound', 'y-2 Failed QueueFull'],
  ])
  stage.cluster.put(accounts, anAccount({ name: 'x' }))
  await stage.gather()
  t.equal(findCondition(stage.get('x-1')?.status?.conditions, ConditionType.runnable)?.status, 'True')
  t.equal(findCondition(stage.get('y-1')?.status?.conditions, ConditionType.runnable)?.status, 'False')
  stage.cluster.put(accounts, anAccount({ name: 'y' }))
  stage.cluster.remove(runnerPools, 'default')
  await stage.gather()
  t.equal(stage.states()[2], 'y-1 Pending PoolNotFound', 'another reason')
})

t.test('a video fails at once in a pool that records none, or no longer, and waits for a pool that does not exist', async (t) => {
  const stage = await start(t)
  const video = (poolName?: string): Partial<ScreenshotSpec> => ({ options: { format: 'mp4' }, ...(poolName ? { poolName } : {}) })
  await stage.add(['still'], video('default'))
  t.match(stage.get('still')?.status?.result?.error, {
    code: 'VIDEO_UNAVAILABLE',
    message: /^RunnerPool default does not record videos\. Leave out spec\.poolName, or set spec\.video/,
  })
  await stage.add(['moving'], video())
  t.strictSame(stage.states(), ['still Failed VideoUnavailable', 'moving Pending PoolNotFound'])
  t.match(
    findCondition(stage.get('moving')?.status?.conditions, ConditionType.runnable)?.message,
    /RunnerPool video does not exist.*runner\.video\.enabled/,
  )
  stage.cluster.put(runnerPools, aRunnerPool({ name: 'video', spec: { video: true } }))
  await stage.gather()
  t.equal(findCondition(stage.get('moving')?.status?.conditions, ConditionType.runnable)?.status, 'True')
  stage.cluster.put(runnerPools, aRunnerPool({ name: 'video' }))
  await stage.gather()
  t.match(stage.get('moving')?.status?.result?.error, { code: 'VIDEO_UNAVAILABLE' })
})

t.test('a Screenshot without a status is pending', async (t) => {
  const { status: _, ...shot } = aScreenshot()
  t.ok(isPending(shot))
})
