import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import type { TermDeps } from '../../runtime/deps.ts'

/** Index of queued Screenshots by account. */
export const PENDING_INDEX = 'pending/account'
/** True for a Screenshot that waits for a runner. */
export const isPending = (shot: Screenshot): boolean => (shot.status?.phase ?? 'Pending') === 'Pending' && !isBeingDeleted(shot)
/** The value of that index. */
export const pendingAccountOf = (shot: Screenshot): string | undefined => (isPending(shot) ? accountOf(shot) : undefined)
/** Key for all accounts that do not exist. Together they share the queue limit of one account. */
export const NO_ACCOUNT = '*'

/** Dependencies of the controller during one term. */
export interface PendingContext extends TermDeps {
  poolOf: (shot: Screenshot) => string
  /** True when uncharged Screenshots need an Account. */
  charges: boolean
  enqueueAfter: (account: string, milliseconds: number) => void
}
