import type { Pod } from '@tintype/crds/client/core-resources'
import type { Log } from '@tintype/crds/client/log'
import type { Resource } from '@tintype/crds/client/resource'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import type { ScreenshotMetrics } from '../../metrics/metrics.ts'
import type { OptionsSources } from '../../options/open-options.ts'
import type { Expectations } from '../../runner/expectations.ts'
import type { RunnerClient } from '../../runner/runner-client.ts'
import type { Runners } from '../../runner/runners.ts'
import type { CaptureWatcher } from '../../scheduling/capture-watcher.ts'
import type { CrashBudget } from '../../scheduling/crash-budget.ts'
import type { DispatchTracker } from '../../scheduling/dispatch-tracker.ts'
import type { Dispatcher } from '../../scheduling/dispatcher.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Charge } from '../quota/charges.ts'
import type { ChargeBackoff } from './charge-backoff.ts'
import type { PictureCache } from './picture-cache.ts'

/** Dependencies of the Screenshot controller during one term. */
export interface ScreenshotContext {
  namespace: string
  maxFileBytes: number
  screenshots: Resource<Screenshot>
  pods: Pick<Resource<Pod>, 'find' | 'delete'>
  reflectors: Pick<Reflectors, 'screenshots' | 'pools' | 'pods' | 'accounts'>
  runners: Runners
  expectations: Expectations
  dispatcher: Dispatcher
  client: RunnerClient
  dispatchTracker: DispatchTracker
  captureWatcher: CaptureWatcher
  crashBudget: CrashBudget
  /** Backoff of accounts that could not be charged. */
  chargeBackoff: ChargeBackoff
  /** The pool that captures a Screenshot: its own, its account's plan's, or the default one. */
  poolOf: (shot: Screenshot) => string
  storage: Pick<Storage, 'presignPut' | 'removePrefix' | 'exists' | 'write' | 'remove'>
  /** Pictures that later requests can reuse. */
  cache: PictureCache
  /** Sources of private and large options. */
  optionsSources: OptionsSources
  events: EventRecorder
  metrics: ScreenshotMetrics
  log: Log
  now: () => Date
  isLeader: () => boolean
  /** Called once the runner of a claim was checked: a new leader dispatches only after all open claims have been checked. */
  onClaimChecked: (key: string) => void
  /** Charges a Screenshot that no gateway has charged; absent: nothing is charged. */
  charge?: Charge | undefined
}
