import t, { type Test } from 'tap'
import { KubeError } from '../../../../crds/client/kube-error.ts'
import type { KubeObject } from '../../../../crds/client/kube-object.ts'
import { silentLog } from '../../../../crds/client/log.ts'
import type { Reflector, ReflectorEvent } from '../../../../crds/client/reflector.ts'
import { Controller, type ControllerOptions, type Reconcile } from '../../../../operator/src/controller/controller.ts'
import { RetryableError, TerminalError } from '../../../../operator/src/controller/errors.ts'
import { ManualClock } from './manual-clock.ts'

/** A started controller whose queue runs on a manual clock, with what it told its metrics and its log. */
function startController(t: Test, reconcile: Reconcile, options: Partial<ControllerOptions> = {}) {
  const clock = new ManualClock()
  const results: string[] = []
  const errors: string[] = []
  const logged: string[] = []
  const log = { ...silentLog, warn: () => logged.push('warn'), error: () => logged.push('error') }
  const metrics = {
    onReconcile: (_: string, result: string) => results.push(result),
    onError: (_: string, kind: string) => errors.push(kind),
  }
  const controller = new Controller({ name: 'shots', reconcile, log, queue: { clock }, metrics, ...options })
  controller.start()
  t.teardown(() => controller.stop(0))
  return { controller, clock, results, errors, logged }
}

/** Lets everything run that is ready to. */
const settle = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

t.test('controller reconciles each enqueued key and counts success', async (t) => {
  const keys: string[] = []
  const { controller, results } = startController(t, async (key) => void keys.push(key))
  controller.enqueue('a')
  controller.enqueue('b')
  await settle()
  t.strictSame(keys, ['a', 'b'])
  t.strictSame(results, ['success', 'success'])
})

t.test('controller works on as many keys at once as it has workers, and on none twice', async (t) => {
  const running: string[] = []
  const gates = new Map<string, () => void>()
  const reconcile: Reconcile = async (key) => {
    running.push(key)
    await new Promise<void>((resolve) => gates.set(key, resolve))
    return undefined
  }
  const { controller } = startController(t, reconcile, { workers: 2 })
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

t.test('controller comes back to a key after the time that reconcile asks for', async (t) => {
  let runs = 0
  const { controller, clock, results } = startController(t, async () => (++runs === 1 ? { requeueAfterMilliseconds: 5_000 } : undefined))
  controller.enqueue('a')
  await settle()
  clock.advance(4_999)
  await settle()
  t.equal(runs, 1)
  clock.advance(1)
  await settle()
  t.equal(runs, 2)
  t.strictSame(results, ['requeue_after', 'success'])
})

const conflict = new KubeError({ status: 409, reason: 'Conflict', message: 'moved on' })
const failures = [
  {
    name: 'a retryable error',
    error: new RetryableError('no room'),
    result: 'error',
    counted: ['retryable'],
    logged: ['warn'],
    retries: 1,
  },
  {
    name: 'an absent API server',
    error: new KubeError({ status: 0, reason: 'Refused', message: 'away' }),
    result: 'error',
    counted: ['retryable'],
    logged: ['warn'],
    retries: 1,
  },
  { name: 'a bug', error: new TypeError('undefined is not a function'), result: 'error', counted: ['bug'], logged: ['error'], retries: 1 },
  { name: 'an update conflict', error: conflict, result: 'requeue', counted: [], logged: [], retries: 1 },
  {
    name: 'an update conflict inside a retryable error',
    error: new RetryableError('claim', { cause: conflict }),
    result: 'requeue',
    counted: [],
    logged: [],
    retries: 1,
  },
  {
    name: 'an object that was deleted under the write',
    error: new RetryableError('claim', { cause: new KubeError({ status: 404, reason: 'NotFound', message: 'not found' }) }),
    result: 'requeue',
    counted: [],
    logged: [],
    retries: 1,
  },
  {
    name: 'a terminal error',
    error: new TerminalError('InvalidPod', 'rejected'),
    result: 'error',
    counted: ['terminal'],
    logged: ['error'],
    retries: 0,
  },
]
for (const { name, error, result, counted, logged, retries } of failures) {
  t.test('controller lets everything else run between looks at a key that is due at once', async (t) => {
    let runs = 0
    const { controller, clock } = startController(t, async () => {
      runs++
      return { requeueAfterMilliseconds: -5 }
    })
    controller.enqueue('a')
    await settle()
    t.equal(runs, 1)
    clock.advance(1)
    await settle()
    t.equal(runs, 2)
  })

  t.test(`controller ${retries ? 'backs off and repeats' : 'does not repeat'} after ${name}`, async (t) => {
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

t.test('controller ends the signal of a reconcile that takes too long, and tries again', async (t) => {
  let timeouts = 0
  const reconcile: Reconcile = (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const metrics = { onTimeout: () => timeouts++ }
  const { controller } = startController(t, reconcile, { timeoutMilliseconds: 20, metrics })
  const keepAlive = setInterval(() => {}, 10)
  t.teardown(() => clearInterval(keepAlive))
  controller.enqueue('a')
  while (timeouts === 0) await settle()
  t.equal(controller.queue.retries('a'), 1)
})

t.test('controller that stops lets the work under way finish and starts no more', async (t) => {
  const keys: string[] = []
  let finish = () => {}
  const reconcile: Reconcile = async (key) => {
    keys.push(key)
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    return undefined
  }
  const { controller, results } = startController(t, reconcile)
  controller.enqueue('a')
  controller.enqueue('b')
  await settle()
  const stopped = controller.stop()
  finish()
  await stopped
  t.strictSame(keys, ['a'])
  t.strictSame(results, ['success'])
})

t.test('controller that stops ends the signal of work that does not finish in time', async (t) => {
  let reason: unknown
  const reconcile: Reconcile = (_, signal) =>
    new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        reason = signal.reason
        reject(signal.reason)
      }),
    )
  const { controller } = startController(t, reconcile)
  const keepAlive = setInterval(() => {}, 10)
  t.teardown(() => clearInterval(keepAlive))
  controller.enqueue('a')
  await settle()
  await controller.stop(1)
  t.match(reason, { name: 'RetryableError' })
})

t.test('controller is stuck when a worker outlives its time-out and grace, not while it has much to do', async (t) => {
  let finish = () => {}
  const reconcile: Reconcile = (key) =>
    key === 'endless' ? new Promise((resolve) => (finish = () => resolve(undefined))) : Promise.resolve(undefined)
  const { controller, clock } = startController(t, reconcile, { timeoutMilliseconds: 1_000, stuckGraceMilliseconds: 500 })
  for (let n = 0; n < 1_000; n++) controller.enqueue(`k${n}`)
  while (controller.queue.depth > 0) {
    clock.advance(100)
    if (controller.stuckFor() > 0) t.fail('busy is not stuck')
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

t.test('controller enqueues what a reflector tells, lists behind news, by the keys of the mapper', async (t) => {
  let tell: (event: ReflectorEvent<KubeObject>) => void = () => {}
  let removed = 0
  const reflector = {
    addListener: (listener: typeof tell) => {
      tell = listener
      return () => removed++
    },
  } as unknown as Reflector<KubeObject>
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
  t.equal(removed, 2)
})
