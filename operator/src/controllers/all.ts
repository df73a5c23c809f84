/**
 * The list of all controllers. Each entry starts at the beginning of a term of leadership and stops at its end. An entry with several
 * controllers has them share state in memory. The names are those of the metrics and the log lines.
 */

import type { Signer } from '../runner/runner-client.ts'
import { type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../runtime/deps.ts'
import type { Metrics } from '../runtime/metrics.ts'
import { buildTermState, type CaptureDeps } from '../scheduling/term-state.ts'
import { createAccountControllers } from './account/controller.ts'
import { createApiKeyController } from './api-key/controller.ts'
import { createDeliveryControllers } from './delivery/term.ts'
import { createGuardController } from './guard/controller.ts'
import { createPendingController } from './pending/controller.ts'
import type { Charge } from './quota/charges.ts'
import { createQuotaController } from './quota/controller.ts'
import { createRetentionController } from './retention/controller.ts'
import { createRunnerPoolControllers, type RunnerPoolControllers } from './runner-pool/controller.ts'
import { createScheduleController } from './schedule/controller.ts'
import { createScreenshotControllers, type ScreenshotControllers } from './screenshot/controller.ts'

/** Creates all controllers. Call it once per process. */
export function createControllers({ deps, metrics, sign }: CaptureOptions): Work[] {
  const quota = createQuotaController(deps)
  return [
    // guard, screenshot, screenshot-deletion, runnerpool, runner
    createCaptureControllers({ deps, metrics, sign, charge: quota.charge }),
    // webhook, delivery, webhook-request
    createDeliveryControllers(deps),
    // apikey
    createApiKeyController(deps),
    // account, account-deletion
    createAccountControllers(deps),
    // account-usage
    quota,
    // pending
    createPendingController(deps, { charges: true }),
    // schedule
    createScheduleController(deps),
    // retention
    createRetentionController(deps),
  ]
}

/**
 * The controllers that turn queued Screenshots into captures: guard, screenshot, screenshot-deletion, runnerpool and runner. They share
 * state in memory (scheduling/term-state.ts), so they start and stop together in each term of leadership.
 */

interface CaptureOptions {
  deps: Deps
  metrics: Pick<Metrics, 'screenshot' | 'pool'>
  /** Signs orders for runners. */
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
