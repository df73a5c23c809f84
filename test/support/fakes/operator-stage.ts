// Controllers of an operator on an API server and a bucket in memory, with a clock that the test sets. A test puts objects and time in, and looks at
// the objects, files, Events and metrics that follow.

import type { Logger } from 'pino'
import { Registry } from 'prom-client'
import type { Test } from 'tap'
import { silentLog } from '../../../crds/client/log.ts'
import { newOpeningKey } from '../../../crds/src/crypto/sealed.ts'
import type { Controller } from '../../../operator/src/controller-runtime/controller.ts'
import { EventOrder } from '../../../operator/src/controllers/delivery/events/event-order.ts'
import { createReflectors, type Reflectors } from '../../../operator/src/kube/reflectors.ts'
import { type Config, loadConfig } from '../../../operator/src/runtime/config.ts'
import { type Deps, inTerm, type StartedWork, type TermDeps } from '../../../operator/src/runtime/deps.ts'
import { Archiving } from '../../../operator/src/storage/archiving.ts'
import { collectIgnored, ring } from '../sources/mark-checks.ts'
import { at } from './builders.ts'
import { MemoryBucket } from './memory-bucket.ts'
import { MemoryCluster } from './memory-cluster.ts'
import { aTerm } from './term.ts'

/** Turns of the event loop without work after which nothing more happens by itself. */
const QUIET_TURNS = 10

type Settings = { [Name in keyof Config]?: Partial<Config[Name]> }

export type OperatorStage = Awaited<ReturnType<typeof startOperator>>

/** Starts the informer caches of an operator. `settings` differ from the defaults. */
export async function startOperator(t: Test, settings: Settings = {}) {
  const clock = new StageClock()
  const now = () => at(clock.second)
  const cluster = new MemoryCluster({ now })
  const bucket = new MemoryBucket()
  const { ignored, report } = collectIgnored()
  const registry = new Registry()
  const log = { ...silentLog, child: () => log } as unknown as Logger
  const reflectors = createReflectors(cluster.http, { log, metrics: {} })
  for (const reflector of Object.values(reflectors)) reflector.start()
  await Promise.all(Object.values(reflectors).map((reflector) => reflector.whenSynced()))
  t.teardown(() => Promise.all(Object.values(reflectors).map((reflector) => reflector.stop())))

  const deps: Deps = {
    ...{ log, registry, reflectors, report, archiving: new Archiving() },
    config: configWith(settings, cluster.namespace),
    clock: { wall: () => now().getTime(), monotonic: () => clock.second * 1_000, after: clock.after },
    keys: { downloadKeys: ring, openingKeys: [newOpeningKey('k1')], dispatchKey: {} } as unknown as Deps['keys'],
    eventOrder: new EventOrder(reflectors),
  }
  const running = new Set<Controller>()
  /** Kubernetes Events as `Warning Reason object: message`. */
  const events: string[] = []

  /** Starts controllers as in a term of leadership. */
  function lead(start: (deps: TermDeps) => StartedWork, mayWrite: () => boolean = () => true) {
    const ending = new AbortController()
    const note = (type: string) => (object: { metadata: { name: string } }, reason: string, message: string) =>
      void events.push(`${type} ${reason} ${object.metadata.name}: ${message}`)
    const term = aTerm({
      ...{ http: cluster.http, storage: bucket.storage, signal: ending.signal, mayWrite },
      events: { warn: note('Warning'), normal: note('Normal') },
    })
    const work = start(inTerm(deps, term))
    for (const controller of work.controllers) {
      running.add(controller)
      // Delays pass with the clock of the stage.
      controller.queue.addAfter = (key, milliseconds, priority) => clock.addKey(controller, key, milliseconds, priority)
    }
    let ended: Promise<void> | undefined
    const end = () => {
      ending.abort()
      for (const controller of work.controllers) running.delete(controller)
      ended ??= work.stop()
      return ended
    }
    t.teardown(end)
    return { end }
  }

  /** Resolves when nothing more happens without another change or more time. */
  async function settle(): Promise<void> {
    const isBusy = () => cluster.open > 0 || [...running].some(({ queue }) => queue.depth > 0 || queue.longestRunningSeconds() > 0)
    // Without a promise for each turn, because tap follows each of them.
    await new Promise<void>((resolve) => {
      let quiet = 0
      const turn = () => {
        quiet = isBusy() ? 0 : quiet + 1
        if (quiet > QUIET_TURNS) resolve()
        else setImmediate(turn)
      }
      setImmediate(turn)
    })
  }

  /** Lets time pass until a second after noon. What is due before happens in order. */
  async function passTo(second: number): Promise<void> {
    await settle()
    for (let next = clock.nextUntil(second); next !== undefined; next = clock.nextUntil(second)) {
      clock.second = Math.max(clock.second, next)
      clock.run()
      await settle()
    }
    clock.second = second
    clock.run()
    await settle()
  }

  /** The values of a metric by their labels, such as `{ 'result=ok': 1 }`. Those that are 0 are left out. */
  async function metric(name: string): Promise<Record<string, number>> {
    const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] }
    const named = values.map(({ labels, value }) => [
      Object.entries(labels)
        .map((pair) => pair.join('='))
        .join(),
      value,
    ])
    return Object.fromEntries(named.filter(([, value]) => value !== 0))
  }

  return { cluster, bucket, deps, reflectors: reflectors as Reflectors, clock, now, events, ignored, lead, settle, passTo, metric }
}

function configWith(settings: Settings, namespace: string): Config {
  const config = loadConfig({
    TINTYPE_NAMESPACE: namespace,
    TINTYPE_POD_NAME: 'operator-0',
    TINTYPE_POD_UID: 'operator-uid',
    TINTYPE_STORAGE_ENDPOINT: 'http://store:9000',
    TINTYPE_STORAGE_ACCESS_KEY: 'a',
    TINTYPE_STORAGE_SECRET_KEY: 's',
  })
  const changed = Object.entries(settings).map(([name, value]) => {
    const preset = config[name as keyof Config]
    return [name, typeof preset === 'object' && typeof value === 'object' ? { ...preset, ...value } : value]
  })
  return { ...config, ...Object.fromEntries(changed) }
}

/** Seconds after noon, and what is due at later ones. */
class StageClock {
  second = 0
  readonly #timers = new Map<unknown, { at: number; run: () => void }>()

  readonly after = (milliseconds: number, run: () => void): (() => void) => {
    const id = Symbol()
    this.#timers.set(id, { at: this.second + milliseconds / 1_000, run })
    return () => this.#timers.delete(id)
  }

  /** Of several delays of a key, the earliest counts. */
  addKey(controller: Controller, key: string, milliseconds: number, priority?: 'live' | 'resync'): void {
    const id = `${controller.name} ${key}`
    const dueAt = this.second + Math.max(0, milliseconds) / 1_000
    if ((this.#timers.get(id)?.at ?? Number.POSITIVE_INFINITY) <= dueAt) return
    this.#timers.set(id, { at: dueAt, run: () => controller.queue.add(key, priority) })
  }

  /** The time of the next timer, if it is not later than a second. */
  nextUntil(second: number): number | undefined {
    const next = Math.min(...this.#timers.values().map(({ at }) => at))
    return next <= second ? next : undefined
  }

  /** Runs the timers that are due. */
  run(): void {
    for (const [id, { at, run }] of this.#timers) {
      if (at > this.second) continue
      this.#timers.delete(id)
      run()
    }
  }
}
