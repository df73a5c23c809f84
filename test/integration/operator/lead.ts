// Controllers of an operator on a real API server, in the process of the test.

import { pino } from 'pino'
import { systemClock } from '../../../operator/src/controller-runtime/clock.ts'
import { createReflectors, type Reflectors } from '../../../operator/src/kube/reflectors.ts'
import type { Deps, Work } from '../../../operator/src/runtime/deps.ts'
import { createMetrics } from '../../../operator/src/runtime/metrics.ts'
import { aTerm } from '../../support/fakes/term.ts'
import type { Ends } from '../../support/processes/own-plane.ts'

type Given = Omit<Parameters<typeof aTerm>[0], 'signal'>

interface Leading extends Given {
  creates: readonly ((deps: Deps) => Work)[]
  /** Informer caches that these controllers use. Default: all. */
  caches?: readonly (keyof Reflectors)[]
  deps?: { [Name in keyof Deps]?: Partial<Deps[Name]> }
}

/** Starts controllers as a leader does. `stop` ends them as a lost lease does. */
export async function leadWith(t: Ends, { http, creates, caches, deps: given = {}, ...term }: Leading) {
  const log = pino({ level: process.env.TINTYPE_TEST_LOG ?? 'silent' })
  const metrics = createMetrics()
  const reflectors = createReflectors(http, { log, metrics: metrics.reflector })
  const used = (caches ?? (Object.keys(reflectors) as (keyof Reflectors)[])).map((name) => reflectors[name])
  for (const reflector of used) reflector.start()
  await Promise.all(used.map((reflector) => reflector.whenSynced()))
  const deps = {
    ...{ log, reflectors, registry: metrics.registry, controllerMetrics: metrics.runtime, clock: systemClock, report: () => {}, ...given },
    config: { namespace: http.namespace, ...given.config },
  } as unknown as Deps
  const works = creates.map((create) => create(deps))
  return { reflectors, stop: startTerm(t, works, used, { http, ...term }) }
}

/** Starts controllers for one term. Returns what ends them and their caches as a lost lease does: work in progress is left as it is. */
export function startTerm(
  t: Ends,
  works: readonly Work[],
  caches: readonly { stop(): Promise<void> }[],
  given: Given,
): () => Promise<void> {
  const ending = new AbortController()
  const term = aTerm({ ...given, signal: ending.signal })
  const started = works.map((work) => work.start(term))
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= (async () => {
      ending.abort()
      await Promise.all(started.map((work) => work.stop()))
      await Promise.all(caches.map((cache) => cache.stop()))
    })()
    return stopped
  }
  // Also after a failed test: watches would keep the process running.
  t.teardown(stop)
  return stop
}
