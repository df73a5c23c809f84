import type { RunApproval } from '../kinds/schedule-comparison.ts'
import type { StoredSchedule } from '../kinds/screenshot-schedule.ts'

// The history of approvals, and requests to undo the last one. A request names the approval that it undoes, so that an operator that takes over in
// between does not undo another one.

/** Asks to undo the last approval, in the annotation `tintype.dev/approve`. The operator writes which approval that is. */
export const UNDO = 'undo'

/** Asks to undo this approval. */
export const toUndoRequest = ({ approvalTime }: RunApproval): string => `${UNDO}/${new Date(approvalTime).toISOString()}`

/** Whether a request undoes an approval. */
export const isUndoRequest = (request: string): boolean => request === UNDO || request.startsWith(`${UNDO}/`)

/** The last approval that was not undone. */
export const lastApprovalOf = ({ status }: Pick<StoredSchedule, 'status'>): RunApproval | undefined =>
  status?.approvals?.find(({ undoneTime }) => undoneTime === undefined)

/** Whether the picture that an approval replaced no longer exists. */
export const isPictureGone = ({ replaced }: RunApproval): boolean => replaced !== undefined && replaced.etag === undefined
