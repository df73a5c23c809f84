import { isAlreadyExists } from '@tintype/crds/client/kube-error'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import { Annotation, API_VERSION, toObjectName } from '@tintype/crds/identifiers/names'
import type { MovingParts } from '@tintype/crds/kinds/comparison'
import type { RunApproval, ScheduleBaseline } from '@tintype/crds/kinds/schedule-comparison'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ActiveRun, ScreenshotSchedule, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { type StoredRun, toRunSpec } from '@tintype/crds/records/run'
import { runKey } from '@tintype/crds/records/storage-keys'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { RetryableError } from '../../controller-runtime/errors.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { patchSeen, patchStatus } from '../../kube/patch-seen.ts'
import type { Storage } from '../../storage/storage.ts'
import { keysOfApprovals, updateApprovals } from './approvals.ts'
import { approve } from './approve.ts'
import type { Decision, DueRun, Observed } from './decide.ts'
import { type EndedRun, toActive, toRecent } from './ended-run.ts'
import { describeApproval, findEvents, type ScheduleEvent } from './events.ts'
import { keepBaseline, removeOldPictures } from './keep-baseline.ts'
import type { ScheduleMetrics } from './metrics.ts'
import { type ObserveDeps, SCHEDULE_INDEX } from './observe.ts'
import { buildStatus } from './status.ts'

export interface ApplyDeps extends Omit<ObserveDeps, 'shots' | 'storage'> {
  store: Pick<Resource<ScreenshotSchedule>, 'patch'>
  seenSchedules: Pick<Reflector<ScreenshotSchedule>, 'observe'>
  shots: Pick<Resource<Screenshot>, 'find' | 'create'>
  storage: Pick<Storage, 'readText' | 'exists' | 'write' | 'copy' | 'list' | 'remove'>
  events: EventRecorder
  metrics: ScheduleMetrics
  /** True the first time that a text is reported for a schedule. */
  isNew: (uid: string, text: string) => boolean
}

/**
 * Stores the ends of runs and the picture to compare with, creates the run that is due, and then writes the status once. The next leader
 * finds the run by its id if this one stops in between.
 */
export async function apply({ schedule, open, ended }: Observed, decision: Decision, deps: ApplyDeps): Promise<Requeue> {
  for (const run of ended) await record(schedule, run, deps)
  const kept = await keepBaseline(schedule, decision.baseline, deps.storage)
  const approval = await approve(withBaseline(schedule, kept), ended, deps)
  const approvals = updateApprovals(withBaseline(schedule, kept), approval, deps.now())
  const chosen = approval && 'baseline' in approval ? approval : undefined
  const baseline = chosen ? chosen.baseline : kept
  const compared = withBaseline(schedule, baseline)
  const made = decision.due && (await create(withMoving(compared, decision.moving), decision.due, deps))
  const progress = { open: made ? [...open, made] : open, ended, baseline, approvals, approvedId: chosen?.baseline?.id }
  const status = buildStatus(schedule, decision, progress, deps.now())
  const writer = { store: deps.store, seen: deps.seenSchedules }
  const written = status ? await patchStatus(schedule, status, writer) : schedule
  for (const event of findEvents(schedule, decision, ended, compared)) report(schedule, event, deps)
  if (approval && written) {
    for (const event of describeApproval(approval)) report(schedule, event, deps)
    const annotations =
      'request' in approval ? { [Annotation.approve]: approval.request } : { [Annotation.approve]: null, [Annotation.approvedBy]: null }
    await patchSeen(written, { metadata: { annotations } }, writer)
  }
  await cleanUp(schedule, { baseline, approvals }, deps)
  return { requeueAfterMilliseconds: decision.requeueAfterMilliseconds }
}

const withBaseline = (schedule: StoredSchedule, baseline: ScheduleBaseline | undefined): StoredSchedule => ({
  ...schedule,
  status: { ...schedule.status, baseline },
})

const withMoving = (schedule: StoredSchedule, moving: MovingParts | undefined): StoredSchedule => ({
  ...schedule,
  status: { ...schedule.status, moving },
})

/** Stores the end of a run. */
async function record(schedule: StoredSchedule, run: EndedRun, { storage, metrics }: ApplyDeps): Promise<void> {
  const stored: StoredRun = { version: 1, ...toRecent(run), time: new Date(run.time).toISOString() }
  await storage.write(runKey(accountOf(schedule), schedule.metadata.uid, run.id), JSON.stringify(stored))
  metrics.onEnded(run.outcome)
}

/** Creates a run, unless it exists although the cache does not contain it: an earlier leader may have created it. */
async function create(schedule: StoredSchedule, { id, time, lateMilliseconds }: DueRun, deps: ApplyDeps): Promise<ActiveRun> {
  const { shots, seen, metrics } = deps
  const name = toObjectName(id)
  try {
    const shot = await shots.create({ metadata: { name, namespace: schedule.metadata.namespace }, spec: toRunSpec(schedule, time) })
    seen.observe(shot)
    metrics.onCreated(lateMilliseconds / 1_000)
    return toActive(shot)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const shot = await shots.find(name)
    if (!shot) throw new RetryableError('a run with this name was just deleted', { cause: error })
    // If it has ended, this reconciles the schedule again.
    seen.observe(shot)
    return toActive(shot)
  }
}

function report(schedule: StoredSchedule, { type, reason, message, once }: ScheduleEvent, { events, isNew }: ApplyDeps): void {
  if (once !== undefined && !isNew(schedule.metadata.uid, once)) return
  events[type]({ apiVersion: API_VERSION, kind: 'ScreenshotSchedule', ...schedule }, reason, message)
}

/** Removes pictures that were replaced. A failure leaves them until the next change. */
async function cleanUp(
  schedule: StoredSchedule,
  { baseline, approvals }: { baseline: ScheduleBaseline | undefined; approvals: readonly RunApproval[] },
  deps: ApplyDeps,
): Promise<void> {
  const kept = [baseline?.key, ...keysOfApprovals(schedule, approvals)]
  const before = [schedule.status?.baseline?.key, ...keysOfApprovals(schedule, schedule.status?.approvals ?? [])]
  if (before.every((key) => key === undefined || kept.includes(key))) return
  const open = deps.screenshots.byIndex(SCHEDULE_INDEX, schedule.metadata.uid).filter((shot) => !isFinished(shot))
  const needed = [...kept, ...open.map(({ spec }) => spec.baseline?.key)]
  await removeOldPictures(schedule, new Set(needed.filter((key) => key !== undefined)), deps.storage)
}
