// Decides what a reconcile writes once the pictures of its runs were copied. Pure.

import { Annotation } from '@tintype/crds/identifiers/names'
import type { ScheduleBaseline, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import type { Approval } from './approvals.ts'
import { keysOfApprovals, updateApprovals } from './approvals.ts'
import type { Decision, DueRun, Observed } from './decide.ts'
import { describeApproval, findEvents, type ScheduleEvent } from './events.ts'
import { buildStatus, type StatusPatch } from './status.ts'

export type Action =
  /** Creates the run of a schedule in this state. */
  | { do: 'createRun'; run: DueRun; of: StoredSchedule }
  | { do: 'writeStatus'; status: StatusPatch }
  | { do: 'report'; event: ScheduleEvent }
  /** Removes the annotation of a request, or names the approval that it undoes. */
  | { do: 'annotate'; annotations: Readonly<Record<string, string | null>> }
  /** Removes the pictures that neither these keys name nor an open run needs. */
  | { do: 'removePictures'; kept: readonly string[] }

/** The pictures that were copied. */
export interface Copied {
  /** The picture to compare with; undefined: there is none. */
  kept: ScheduleBaseline | undefined
  /** The outcome of a request to approve a run; undefined: nothing was requested. */
  approval: Approval | undefined
}

/** Actions in the order in which they must be executed: the status names a run that exists. */
export function decideWrites({ schedule, open, ended }: Observed, decision: Decision, { kept, approval }: Copied, now: Date): Action[] {
  const { due, moving } = decision
  const approvals = updateApprovals(withStatus(schedule, { baseline: kept }), approval, now)
  const approved = approval && 'baseline' in approval ? approval : undefined
  const baseline = approved ? approved.baseline : kept
  const compared = withStatus(schedule, { baseline })
  const status = buildStatus(
    schedule,
    decision,
    {
      ...{ ended, baseline, approvals, approvedId: approved?.baseline?.id },
      open: due ? [...open, { id: due.id, time: due.time.toISOString() }] : open,
    },
    now,
  )
  const actions: Action[] = []
  if (due) actions.push({ do: 'createRun', run: due, of: withStatus(compared, { moving }) })
  if (status) actions.push({ do: 'writeStatus', status })
  const events = [...findEvents(schedule, decision, ended, compared), ...(approval ? describeApproval(approval) : [])]
  actions.push(...events.map((event): Action => ({ do: 'report', event })))
  if (approval) actions.push({ do: 'annotate', annotations: toAnnotations(approval) })
  const after = picturesOf(withStatus(compared, { approvals }))
  if (picturesOf(schedule).some((key) => !after.includes(key))) actions.push({ do: 'removePictures', kept: after })
  return actions
}

/** The schedule as it is after some fields of its status were written. */
export const withStatus = (schedule: StoredSchedule, status: StoredSchedule['status']): StoredSchedule => ({
  ...schedule,
  status: { ...schedule.status, ...status },
})

const toAnnotations = (approval: Approval): Record<string, string | null> =>
  'request' in approval ? { [Annotation.approve]: approval.request } : { [Annotation.approve]: null, [Annotation.approvedBy]: null }

/** Keys of the pictures that a schedule needs for later runs and to undo approvals. */
const picturesOf = (schedule: StoredSchedule): string[] => {
  const { baseline, approvals = [] } = schedule.status ?? {}
  return [...(baseline ? [baseline.key] : []), ...keysOfApprovals(schedule, approvals)]
}
