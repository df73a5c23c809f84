/**
 * The controllers that turn queued Screenshots into captures: guard, screenshot, screenshot-deletion, runnerpool and runner. They share
 * state in memory (scheduling/term-state.ts), so they start and stop together in each term of leadership.
 */

import type { Metrics } from '../metrics/metrics.ts'
import type { Signer } from '../runner/signature.ts'
import { type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../runtime/deps.ts'
import { buildTermState, type CaptureDeps } from '../scheduling/term-state.ts'
import { createGuardController } from './guard/controller.ts'
import type { Charge } from './quota/charges.ts'
import { createRunnerPoolControllers, type RunnerPoolControllers } from './runner-pool/controller.ts'
import { createScreenshotControllers, type ScreenshotControllers } from './screenshot/controller.ts'

export interface CaptureOptions {
  deps: Deps
  metrics: Pick<Metrics, 'screenshot' | 'pool'>
  sign: Signer
  /** Charges a Screenshot that no gateway has charged; absent: nothing is charged. */
  charge?: Charge
  /** Port that runners listen on, when it differs from the protocol's default. */
  runnerPort?: number
}

/** Creates these controllers. Call it once per process. */
export function createCaptureControllers(options: CaptureOptions): Work {
  return { start: (term) => startTerm({ ...options, deps: inTerm(options.deps, term) }) }
}

function startTerm({ deps, metrics, sign, charge, runnerPort }: CaptureOptions & { deps: TermDeps }): StartedWork {
  // The guard and the scheduling module exist before the controllers that they call.
  const guard = createGuardController(deps, { onChange: () => runnerPools.enqueueAll() })
  const isGuarded = () => guard.decision().guarded
  const onAssigned = (key: string) => screenshots.enqueue(key)
  const capture: CaptureDeps = { ...deps, ...buildTermState({ deps, sign, runnerPort, isGuarded, onAssigned }) }
  const screenshots: ScreenshotControllers = createScreenshotControllers({ ...capture, metrics: metrics.screenshot, charge })
  const runnerPools: RunnerPoolControllers = createRunnerPoolControllers({
    ...{ ...capture, metrics: metrics.pool, guard: guard.decision },
    onIdentified: screenshots.enqueueClaimsOf,
  })
  return startControllers([guard.controller, ...screenshots.controllers, ...runnerPools.controllers], async () => {
    await capture.client.close()
    runnerPools.removeGauges()
  })
}
