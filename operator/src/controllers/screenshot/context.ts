import type { ScreenshotMetrics } from '../../runtime/metrics.ts'
import { CaptureWatcher } from '../../scheduling/dispatch-tracker.ts'
import type { CaptureDeps } from '../../scheduling/term-state.ts'
import type { Charge } from '../quota/charges.ts'
import { ChargeBackoff } from './charge.ts'
import { PictureCache, Restorer } from './picture-cache.ts'

/** What the capture controllers share, and what this one gets. */
export interface ScreenshotDeps extends CaptureDeps {
  metrics: ScreenshotMetrics
  /** Charges a Screenshot that no gateway has charged; absent: nothing is charged. */
  charge?: Charge | undefined
}

/** Dependencies of the Screenshot controller during one term. */
export interface ScreenshotContext extends ScreenshotDeps {
  captureWatcher: CaptureWatcher
  /** Backoff of accounts that could not be charged. */
  chargeBackoff: ChargeBackoff
  /** Pictures that later requests can reuse. */
  cache: PictureCache
  /** Finds archived records of Screenshots that are applied again. */
  restorer: Restorer
}

/** Builds the context of one term. @param enqueue reconciles a Screenshot whose capture ended without a report */
export function buildContext(deps: ScreenshotDeps, enqueue: (key: string) => void): ScreenshotContext {
  const { client, dispatcher, dispatchTracker, runners } = deps
  const captureWatcher = new CaptureWatcher({
    client,
    onChange: (key) => {
      dispatchTracker.outdate(key)
      enqueue(key)
    },
    onTaken: (key, podUid) => {
      runners.noteTakenPicture(podUid, key)
      dispatcher.wakeAll()
    },
    mayStart: deps.mayStart,
    now: deps.now,
  })
  return {
    ...deps,
    captureWatcher,
    chargeBackoff: new ChargeBackoff(),
    cache: new PictureCache(deps),
    restorer: new Restorer(deps),
  }
}
