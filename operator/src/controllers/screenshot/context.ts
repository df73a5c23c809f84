import { type Pod, pods as podResource, secrets } from '@tintype/crds/client/core-resources'
import { screenshots as screenshotResource } from '@tintype/crds/client/kinds'
import type { Log } from '@tintype/crds/client/log'
import { Resource } from '@tintype/crds/client/resource'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import type { ScreenshotMetrics } from '../../metrics/metrics.ts'
import type { OptionsSources } from '../../options/open-options.ts'
import type { Deps, TermDeps } from '../../runtime/deps.ts'
import { CaptureWatcher } from '../../scheduling/dispatch-tracker.ts'
import type { TermState } from '../../scheduling/term-state.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Charge } from '../quota/charges.ts'
import { ChargeBackoff } from './charge.ts'
import { PictureCache } from './picture-cache.ts'
import { Restorer } from './restore.ts'

/** Dependencies of the Screenshot controller during one term. */
export interface ScreenshotContext extends TermState {
  namespace: string
  maxFileBytes: number
  screenshots: Resource<Screenshot>
  pods: Pick<Resource<Pod>, 'find' | 'delete'>
  reflectors: Pick<Reflectors, 'screenshots' | 'pools' | 'pods' | 'accounts'>
  captureWatcher: CaptureWatcher
  /** Backoff of accounts that could not be charged. */
  chargeBackoff: ChargeBackoff
  storage: Pick<Storage, 'presignGet' | 'presignPut' | 'readText' | 'removePrefix' | 'exists' | 'write' | 'remove'>
  /** Pictures that later requests can reuse. */
  cache: PictureCache
  /** Finds archived records of Screenshots that are applied again. */
  restorer: Restorer
  /** Sources of private and large options. */
  optionsSources: OptionsSources
  events: EventRecorder
  /** Receives spans; absent without a collector. */
  spans?: Deps['spans']
  metrics: ScreenshotMetrics
  log: Log
  /** Charges a Screenshot that no gateway has charged; absent: nothing is charged. */
  charge?: Charge | undefined
}

export interface ScreenshotOptions {
  deps: TermDeps
  term: TermState
  metrics: ScreenshotMetrics
  charge?: Charge | undefined
}

/** Builds the context of one term. @param enqueue reconciles a Screenshot whose capture ended without a report */
export function buildContext({ deps, term, metrics, charge }: ScreenshotOptions, enqueue: (key: string) => void): ScreenshotContext {
  const { http, reflectors, storage, report, events, spans, config, log, keys, mayStart } = deps
  const { namespace } = config
  const { client, dispatcher, dispatchTracker, runners, now } = term
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
    mayStart,
    now,
  })
  return {
    ...term,
    namespace,
    maxFileBytes: config.maxFileBytes,
    screenshots: new Resource(http, screenshotResource, { namespace }),
    pods: new Resource(http, podResource, { namespace }),
    reflectors,
    captureWatcher,
    chargeBackoff: new ChargeBackoff(),
    storage,
    cache: new PictureCache(storage, log, { report, now }),
    restorer: new Restorer({ storage, report, now }),
    optionsSources: {
      storage,
      report,
      openingKeys: keys.openingKeys,
      secrets: new Resource(http, secrets, { namespace }),
      policy: config.optionPolicy,
    },
    events,
    spans,
    metrics,
    log,
    charge,
  }
}
