import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { KubeError } from '../../../../crds/client/kube-error.ts'
import type { KubeObject } from '../../../../crds/client/kube-object.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import type { Reflector, ReflectorEvent } from '../../../../crds/client/reflector.ts'
import { FencedError } from '../../../../crds/src/runtime/fence.ts'
import {
  Controller,
  type ControllerOptions,
  findProblems,
  type Reconcile,
  RetryableError,
  TerminalError,
} from '../../../../operator/src/controller-runtime/controller.ts'
import { createRuntimeMetrics } from '../../../../operator/src/controller-runtime/metrics.ts'
import { ManualClock } from './manual-clock.ts'

/** A started controller whose queue runs on a manual clock, with its recorded metrics and log levels. */
function startController(t: Test, reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const clock = new ManualClock()
  const results: string[] = []
  const errors: string[] = []
  const logged: string[] = []
  const log = { ...silentLog, warn: () => logged.push('warn'), error: () => logged.push('error') }
  const metrics = createRuntimeMetrics(new Registry())
  metrics.reconciles.inc = (labels) => void results.push(String((labels as { result: string }).result))
  for (const name of ['errors', 'bugs', 'terminalErrors'] as const) metrics[name].inc = () => void errors.push(name)
  const controller = new Controller({ name: 'shots', reconcile, log, queue: { clock }, metrics, ...options })
  controller.start()
  t.teardown(() => controller.stop(0))
  return { controller, clock, results, errors, logged }
}

/** Lets all pending callbacks run. */
const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

t.test('controller processes as many keys at a time as it has workers, and no key twice', async (t) => {
  const running: string[] = []
  const gates = new Map<string, () => void>()
  const reconcile: Reconcile = (key) => {
    running.push(key)
    return new Promise((resolve) => gates.set(key, () => resolve(undefined)))
  }
  const registry = new Registry()
  const { controller } = startController(t, reconcile, { workers: 2, metrics: createRuntimeMetrics(registry) })
  t.match(await registry.metrics(), /controller_runtime_max_concurrent_reconciles\{controller="shots"\} 2/)
  for (const key of ['a', 'b', 'c']) controller.enqueue(key)
  await settle()
  controller.enqueue('a')
  await settle()
  t.strictSame(running, ['a', 'b'])
  gates.get('a')?.()
  await settle()
  t.strictSame(running, ['a', 'b', 'c'])
  gates.get('b')?.()
  await settle()
  t.strictSame(running, ['a', 'b', 'c', 'a'])
  for (const open of gates.values()) open()
})

for (const [requeueAfterMilliseconds, waited] of [
  [5_000, 5_000],
  [-5, 1],
] as const) {
  t.test(`controller reconciles a key again after ${waited} ms that requests it after ${requeueAfterMilliseconds} ms`, async (t) => {
    let runs = 0
    const { controller, clock, results } = startController(t, async () => (++runs === 1 ? { requeueAfterMilliseconds } : undefined))
    controller.enqueue('a')
    await settle()
    clock.advance(waited - 1)
    await settle()
    t.equal(runs, 1)
    clock.advance(1)
    await settle()
    t.strictSame(results, ['requeue_after', 'success'])
  })
}

const conflict = new KubeError({ status: 409, reason: 'Conflict', message: 'moved on' })
const notFound = new KubeError({ status: 404, reason: 'NotFound', message: 'not found' })
const later = { result: 'requeue', counted: [], logged: [], retries: 1 }
const failed = { result: 'error', counted: ['errors'], logged: ['warn'], retries: 1 }
const failures = [
  { name: 'a retryable error', error: new RetryableError('no room'), ...failed },
  { name: 'an unreachable API server', error: new KubeError({ status: 0, reason: 'Refused', message: 'away' }), ...failed },
  { name: 'a bug', error: new TypeError('undefined is not a function'), ...failed, counted: ['errors', 'bugs'], logged: ['error'] },
  { name: 'an update conflict', error: conflict, ...later },
  { name: 'an update conflict inside a retryable error', error: new RetryableError('claim', { cause: conflict }), ...later },
  { name: 'an object that was deleted before the write', error: new RetryableError('claim', { cause: notFound }), ...later },
  { name: 'a write that the lost lease refused', error: new FencedError(), ...later },
  { name: 'a refused write inside a retryable error', error: new RetryableError('create pod', { cause: new FencedError() }), ...later },
  {
    name: 'a terminal error',
    error: new TerminalError('InvalidPod', 'rejected'),
    ...{ result: 'error', counted: ['errors', 'terminalErrors'], logged: ['error'], retries: 0 },
  },
]
for (const { name, error, result, counted, logged, retries } of failures) {
  t.test(`controller ${retries ? 'retries with backoff' : 'does not retry'} after ${name}`, async (t) => {
    let runs = 0
    const reconcile: Reconcile = async () => {
      if (++runs === 1) throw error
      return undefined
    }
    const seen = startController(t, reconcile)
    seen.controller.enqueue('a')
    await settle()
    t.strictSame([seen.results, seen.errors, seen.logged], [[result], counted, logged])
    seen.clock.advance(5)
    await settle()
    t.equal(runs, 1 + retries)
    t.equal(seen.controller.queue.retries('a'), 0, 'success ends the backoff')
  })
}

/** A reconcile that ends only when its signal is aborted. */
const untilAborted = (signal: AbortSignal) =>
  new Promise<undefined>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

/** The timers of the controller do not keep the process alive. */
function keepAlive(t: Test): void {
  const timer = setInterval(() => {}, 10)
  t.teardown(() => clearInterval(timer))
}

t.test('controller aborts the signal of a reconcile at its timeout, and retries', async (t) => {
  let timeouts = 0
  const metrics = createRuntimeMetrics(new Registry())
  metrics.timeouts.inc = () => void timeouts++
  const { controller } = startController(t, (_, signal) => untilAborted(signal), { timeoutMilliseconds: 20, metrics })
  keepAlive(t)
  controller.enqueue('a')
  while (timeouts === 0) await settle()
  t.equal(controller.queue.retries('a'), 1)
})

t.test('controller that stops lets running reconciles finish and starts no more', async (t) => {
  const keys: string[] = []
  const { promise, resolve: finish } = Promise.withResolvers<undefined>()
  const reconcile: Reconcile = (key) => {
    keys.push(key)
    return promise
  }
  const { controller, results } = startController(t, reconcile)
  controller.enqueue('a')
  controller.enqueue('b')
  await settle()
  const stopped = controller.stop()
  finish(undefined)
  await stopped
  t.strictSame(keys, ['a'])
  t.strictSame(results, ['success'])
})

t.test('controller that stops aborts the signal of reconciles that do not finish in time', async (t) => {
  let running: AbortSignal | undefined
  const { controller } = startController(t, (_, signal) => {
    running = signal
    return untilAborted(signal)
  })
  keepAlive(t)
  controller.enqueue('a')
  await settle()
  await controller.stop(1)
  t.match(running?.reason, { name: 'RetryableError' })
})

t.test('controller is stuck when a worker exceeds its timeout and grace period, but not while it is busy', async (t) => {
  let finish = () => {}
  const reconcile: Reconcile = (key) =>
    key === 'endless' ? new Promise((resolve) => (finish = () => resolve(undefined))) : Promise.resolve(undefined)
  const { controller, clock } = startController(t, reconcile, { timeoutMilliseconds: 1_000, stuckGraceMilliseconds: 500 })
  for (let n = 0; n < 1_000; n++) controller.enqueue(`k${n}`)
  while (controller.queue.depth > 0) {
    clock.advance(100)
    if (controller.stuckFor() > 0) t.fail('a busy controller is not stuck')
    await settle()
  }
  controller.enqueue('endless')
  await settle()
  clock.advance(1_500)
  t.equal(controller.stuckFor(), 0)
  clock.advance(100)
  t.equal(controller.stuckFor(), 100)
  finish()
  await settle()
  t.equal(controller.stuckFor(), 0)
})

/** A reflector whose changes go to the last listener. */
function aReflector() {
  let listener: (event: ReflectorEvent<KubeObject>) => void = () => {}
  const ended: string[] = []
  const addListener = (added: typeof listener) => {
    listener = added
    return () => ended.push('listener')
  }
  return {
    reflector: { addListener } as unknown as Reflector<KubeObject>,
    tell: (event: ReflectorEvent<KubeObject>) => listener(event),
    ended,
  }
}

t.test('controller enqueues the mapped keys of reflector events, those of lists behind live ones', async (t) => {
  const { reflector, tell, ended } = aReflector()
  const keys: string[] = []
  const controller = new Controller({ name: 'shots', reconcile: async (key) => void keys.push(key), log: silentLog })
  controller.watch(reflector)
  const object = (name: string) => ({ metadata: { name, namespace: 'n' } })
  tell({ type: 'added', object: object('old'), source: 'list' })
  tell({ type: 'modified', object: object('new'), source: 'watch' })
  controller.watch(reflector, ({ object }) => (object.metadata.name === 'pod' ? ['n/owner', 'n/friend'] : undefined))
  tell({ type: 'deleted', object: object('pod'), source: 'watch' })
  tell({ type: 'deleted', object: object('stranger'), source: 'watch' })
  controller.start()
  await settle()
  await controller.stop()
  t.strictSame(keys, ['n/new', 'n/owner', 'n/friend', 'n/old'])
  t.equal(ended.length, 2)
})

t.test('controller collects the changes of a reflector for a while, and ends what it has begun when it stops', async (t) => {
  const { reflector, tell, ended } = aReflector()
  const keys: string[] = []
  const { controller, clock } = startController(t, async (key) => void keys.push(key))
  controller.watchAndCollect(100, reflector, ({ object }) => object.metadata.name)
  controller.onStop(() => ended.push('timer'))
  for (let n = 0; n < 3; n++) tell({ type: 'modified', object: { metadata: { name: 'pool' } }, source: 'watch' })
  await settle()
  t.strictSame(keys, [])
  clock.advance(100)
  await settle()
  t.strictSame(keys, ['pool'])
  t.strictSame(ended, [])
  await controller.stop(0)
  t.strictSame(ended, ['listener', 'timer'])
})

const now = 1_000_000
const controller = (overdue: number) => ({ name: 'shots', stuckFor: () => overdue })
const reflector = (silent: number) => ({ resource: { plural: 'screenshots' }, lastActiveAt: now - silent })
t.test('findProblems finds a stuck worker and an inactive reflector, and nothing while all are active', async (t) => {
  const stuck = findProblems({ controllers: [controller(2_000), controller(0)], reflectors: [], now })
  t.strictSame(stuck, ['a worker of controller shots is stuck, 2 s overdue'])
  const inactive = findProblems({ controllers: [], reflectors: [reflector(200_000)], now })
  t.strictSame(inactive, ['the reflector of screenshots has been inactive for 200 s'])
  t.strictSame(findProblems({ controllers: [controller(0)], reflectors: [reflector(170_000)], now }), [])
})
