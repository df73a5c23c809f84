import t from 'tap'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { events } from '../../../crds/client/core-resources.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { attemptMilliseconds } from '../../../crds/src/dispatch/deadline.ts'
import { findCondition } from '../../../crds/src/schema/conditions.ts'
import { eventually } from '../../support/eventually.ts'
import { startStage } from './stage.ts'

const stage = await startStage(t)
const { node } = stage
const operator = await stage.lead()
await stage.setPool({ minIdle: 2, maxPods: 2 })
await stage.whenIdle(2)

t.beforeEach(() => {
  node.capture = async () => {}
  node.orders.length = 0
})

t.test('the operator captures a Screenshot with one claim, one order and one file', async (t) => {
  const shot = await stage.create()
  const done = await stage.whenFinished(shot)
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.equal(node.orders.length, 1)
  t.equal(await stage.fileOf(shot), `${shot.metadata.name} attempt 1 on ${done.status?.runner?.pod}`)
  t.equal(findCondition(done.status?.conditions, 'Finished')?.status, 'True')
})

t.test('the operator assigns a Screenshot to the runner whose browser belongs to its account', async (t) => {
  const pods = new Set<string | undefined>()
  for (const accountName of ['red', 'blue', 'red', 'blue', 'red']) {
    const done = await stage.whenFinished(await stage.create({ accountName }))
    pods.add(`${accountName} on ${done.status?.runner?.pod}`)
  }
  t.equal(pods.size, 2, [...pods].join(', '))
})

t.test('the operator keeps a failure of the page as the runner reported it', async (t) => {
  node.capture = async () => {
    throw new CaptureError('DNS_FAILED', 'example.com does not resolve')
  }
  const done = await stage.whenFinished(await stage.create())
  t.match(done.status, { phase: 'Failed', attempt: 1, result: { error: { code: 'DNS_FAILED' } } })
  t.equal(node.orders.length, 1)
})

t.test('the operator starts another attempt on another pod when a runner drops a capture', async (t) => {
  node.capture = async (order) => {
    if (order.attempt === 1) throw new CaptureError('INTERNAL_ERROR', 'the browser crashed')
  }
  const done = await stage.whenFinished(await stage.create())
  t.match(done.status, { phase: 'Completed', attempt: 2 })
  t.equal(new Set(node.orders.map(({ pod }) => pod)).size, 2)
  t.equal(done.status?.lostRunners, undefined)
})

t.test('the operator starts no fourth attempt', async (t) => {
  node.capture = async () => {
    throw new CaptureError('STORAGE_FAILED', 'the store is unavailable')
  }
  const done = await stage.whenFinished(await stage.create())
  t.match(done.status, { phase: 'Failed', attempt: 3, result: { error: { code: 'STORAGE_FAILED' } } })
  t.equal(node.orders.length, 3)
})

t.test('the operator captures again when a pod is lost, into a file that the first attempt has not written', async (t) => {
  node.capture = async (order, runner) => {
    if (order.attempt > 1) return
    await fetch(order.upload.url, { method: 'PUT', headers: order.upload.headers, body: 'half a picture' })
    await node.crash(runner, 1)
    await new Promise(() => {})
  }
  const shot = await stage.create()
  const done = await stage.whenFinished(shot)
  t.match(done.status, { phase: 'Completed', attempt: 2, lostRunners: 1 })
  t.match(await stage.fileOf(shot), /attempt 2/)
})

t.test('the operator counts no attempt and does not blame the page when a pod is drained during a capture', async (t) => {
  await stage.whenIdle(2)
  let begun = 0
  node.capture = async (order, _runner, cancelled) => {
    if (++begun > 2) return
    await fetch(order.upload.url, { method: 'PUT', headers: order.upload.headers, body: 'half a picture' })
    void stage.podClient.delete(node.orders.at(-1)?.pod ?? '', { gracePeriodSeconds: 5 })
    await new Promise((_, reject) => cancelled.addEventListener('abort', () => reject(cancelled.reason)))
  }
  const shot = await stage.create()
  const done = await stage.whenFinished(shot)
  t.match(done.status, { phase: 'Completed', attempt: 1, handedBack: 2 })
  t.equal(done.status?.lostRunners, undefined)
  t.match(await stage.fileOf(shot), new RegExp(`attempt 1 on ${done.status?.runner?.pod}`))
  const reported = await eventually('an Event reports it', async () => {
    const all = await new Resource(stage.release.admin, events).listAll({ fieldSelector: `involvedObject.name=${shot.metadata.name}` })
    return all.find(({ reason }) => reason === 'HandedBack')
  })
  t.match(reported, { type: 'Warning', message: /asked to go|was deleted/ })
})

t.test('the operator keeps the pod of a runner that gave up a capture, and reports the reason', async (t) => {
  await stage.whenIdle(2)
  const before = (await stage.poolPods()).map(({ metadata }) => metadata.uid).sort()
  node.capture = async (order) => {
    if (order.attempt < 3) throw new CaptureError('STORAGE_FAILED', 'the store responded with 503')
  }
  const shot = await stage.create()
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 3 })
  t.strictSame((await stage.poolPods()).map(({ metadata }) => metadata.uid).sort(), before)
  const all = await new Resource(stage.release.admin, events).listAll({ fieldSelector: `involvedObject.name=${shot.metadata.name}` })
  t.ok(
    all.some(
      ({ reason, message }) => reason === 'AttemptFailed' && /attempt 1: STORAGE_FAILED: the store responded with 503/.test(message ?? ''),
    ),
  )
})

t.test('the operator captures on nodes whose clocks are 90 s off, and reports it', async (t) => {
  for (const ahead of [90_000, -90_000]) {
    await stage.whenIdle(2)
    stage.clock.ahead = ahead
    const began = Date.now()
    const shot = await stage.create()
    t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', attempt: 1 })
    const { deadline = 0 } = node.orders.at(-1)?.order ?? {}
    const late = deadline - began - attemptMilliseconds(undefined)
    t.ok(Math.abs(late) < 30_000, `the deadline of the runner is off by ${late} ms`)
  }
  await stage.podClient.delete((await stage.poolPods())[0]?.metadata.name ?? '', { gracePeriodSeconds: 0 })
  const reported = await eventually('an Event reports it', async () => {
    const all = await new Resource(stage.release.admin, events).listAll({ fieldSelector: 'involvedObject.kind=RunnerPool' })
    return all.find(({ reason }) => reason === 'ClockSkewed')
  })
  t.match(reported, { type: 'Warning', message: /(89|90|91) s ahead of the operator’s. Synchronize/ })
  stage.clock.ahead = 0
})

t.test('the operator blames the page when its runner runs out of memory twice', async (t) => {
  node.capture = async (_order, runner) => {
    await node.crash(runner, 137)
    await new Promise(() => {})
  }
  const done = await stage.whenFinished(await stage.create())
  t.match(done.status, { phase: 'Failed', attempt: 2, result: { error: { code: 'PAGE_CRASHED', message: /out of memory/ } } })
  t.equal(node.orders.length, 2)
})

t.test('an account was blamed for a runner that ran out of memory with a page of another account', async (t) => {
  await stage.whenIdle(2)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  node.capture = async ({ accountName, attempt }, _runner, _canceled, onPageReady) => {
    if (attempt > 1) return
    if (accountName === 'red') onPageReady()
    await (accountName === 'green' ? released : new Promise(() => {}))
  }
  const ordered = (count: number) => eventually('the order is sent', async () => node.orders.length === count && node.orders.at(-1))
  const red = await stage.create({ accountName: 'red' })
  const { pod } = await ordered(1)
  const green = await stage.create({ accountName: 'green' })
  t.not((await ordered(2)).pod, pod, 'the other runner is busy')
  const blue = await stage.create({ accountName: 'blue' })
  t.equal((await ordered(3)).pod, pod, 'the runner takes one picture and loads another page')
  const runner = node.runners.values().find((one) => one.pod === pod)
  await node.crash(runner!, 137)
  for (const shot of [red, blue]) {
    const { status } = await stage.whenFinished(shot)
    t.match(status, { phase: 'Completed', attempt: 2, lostRunners: undefined })
  }
  release()
  await stage.whenFinished(green)
})

t.test('the operator adopts a capture whose order was accepted without a response', async (t) => {
  await stage.whenIdle(2)
  for (const runner of node.runners.values()) {
    const swallowAnswer = (): void => {
      runner.intercept = (_server, request, response) => {
        if (request.method === 'POST') response.writeHead = () => response.destroy() as never
        else swallowAnswer()
        return false
      }
    }
    swallowAnswer()
  }
  const done = await stage.whenFinished(await stage.create())
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.equal(node.orders.length, 1)
  for (const runner of node.runners.values()) runner.intercept = undefined
})

t.test('the operator sends the same attempt again when the runner did not get the order', async (t) => {
  await stage.whenIdle(2)
  for (const runner of node.runners.values()) {
    const loseOrder = (): void => {
      runner.intercept = (_server, request, response) => {
        if (request.method !== 'POST') loseOrder()
        else response.destroy()
        return request.method === 'POST'
      }
    }
    loseOrder()
  }
  const done = await stage.whenFinished(await stage.create())
  t.match(done.status, { phase: 'Completed', attempt: 1 })
  t.equal(node.orders.length, 1)
  for (const runner of node.runners.values()) runner.intercept = undefined
})

t.test('the operator cancels the capture of a deleted Screenshot and leaves no file', async (t) => {
  const begun = Promise.withResolvers<void>()
  const cancelledOnce = Promise.withResolvers<void>()
  node.capture = async (_order, _runner, cancelled) => {
    begun.resolve()
    await new Promise((resolve) => cancelled.addEventListener('abort', resolve))
    cancelledOnce.resolve()
  }
  const shot = await stage.create()
  await begun.promise
  await stage.shots.delete(shot.metadata.name)
  await t.resolves(cancelledOnce.promise, 'the capture is canceled')
  await stage.whenIdle(2)
  t.equal(await stage.fileOf(shot), undefined)
})

t.test('the operator deletes the file of a Screenshot that is deleted after its capture', async (t) => {
  const shot = await stage.create()
  await stage.whenFinished(shot)
  t.ok(await stage.fileOf(shot))
  await stage.shots.delete(shot.metadata.name)
  await eventually('the file was deleted', async () => (await stage.fileOf(shot)) === undefined)
})

t.test('the operator reports why a Screenshot of an unknown pool waits, and captures it once the pool exists', async (t) => {
  const shot = await stage.create({ poolName: 'large' })
  const waiting = await stage.when(
    shot,
    'says why',
    ({ status }) => findCondition(status?.conditions, 'Succeeded')?.reason === 'PoolNotFound',
  )
  t.equal(waiting.status?.phase, 'Pending')
  const { spec } = await stage.pool()
  await stage.poolClient.create({ metadata: { name: 'large' }, spec: { ...spec, minIdle: 0 } })
  t.match((await stage.whenFinished(shot)).status, { phase: 'Completed', runner: { pod: 'large-0' } })
  await stage.poolClient.delete('large')
})

t.test('the operator counts its work in its metrics', async (t) => {
  const text = await operator.metrics.registry.metrics()
  for (const line of [
    /screenshot_job_duration_seconds_count\{format="png",result="completed"\} \d/,
    /screenshot_failures_total\{reason="PAGE_CRASHED"\} 1/,
    /screenshot_steps_seconds_count\{step="navigate"\} \d/,
    /screenshot_queue_wait_seconds_count \d/,
    /screenshot_pod_startup_seconds_count \d/,
    /controller_runtime_reconcile_total\{controller="screenshot",result="success"\} \d/,
    /workqueue_adds_total\{name="screenshot",controller="screenshot"\} \d/,
  ]) {
    t.match(text, line)
  }
  t.notMatch(text, /controller_runtime_reconcile_panics_total\{controller="\w+"\} [1-9]/)
})
