import type { Log } from '@tintype/crds/client/log'
import type { Resource } from '@tintype/crds/client/resource'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import type { Config } from '../../runtime/config.ts'

/** Index of queued Screenshots by account. */
export const PENDING_INDEX = 'pending/account'
/** Key for all accounts that do not exist. Together they share the queue limit of one account. */
export const NO_ACCOUNT = '*'

/** Dependencies of the controller during one term. */
export interface PendingContext {
  config: Pick<Config, 'namespace' | 'plans' | 'queue' | 'retention'>
  reflectors: Pick<Reflectors, 'screenshots' | 'pools' | 'accounts'>
  store: Pick<Resource<Screenshot>, 'patch'>
  events: EventRecorder
  poolOf: (shot: Screenshot) => string
  /** True when uncharged Screenshots need an Account. */
  charges: boolean
  enqueueAfter: (account: string, milliseconds: number) => void
  log: Log
  now: () => Date
}
