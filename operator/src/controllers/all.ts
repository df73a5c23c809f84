/**
 * The list of all controllers. Each entry starts at the beginning of a term of leadership and stops at its end. An entry with several
 * controllers has them share state in memory. The names are those of the metrics and the log lines.
 */

import type { Metrics } from '../metrics/metrics.ts'
import type { Signer } from '../runner/signature.ts'
import type { Deps, Work } from '../runtime/deps.ts'
import { createAccountControllers } from './account/controller.ts'
import { createApiKeyController } from './api-key/controller.ts'
import { createCaptureControllers } from './capture-controllers.ts'
import { createDeliveryControllers } from './delivery-controllers.ts'
import { createPendingController } from './pending/controller.ts'
import { createQuotaController } from './quota/controller.ts'
import { createRetentionController } from './retention/controller.ts'
import { createScheduleController } from './schedule/controller.ts'

export interface ControllersOptions {
  deps: Deps
  metrics: Pick<Metrics, 'screenshot' | 'pool'>
  /** Signs orders for runners. */
  sign: Signer
}

/** Creates all controllers. Call it once per process. */
export function createControllers({ deps, metrics, sign }: ControllersOptions): Work[] {
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
