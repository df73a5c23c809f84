import { isAlreadyExists, isConflict, isNotFound } from '@tintype/crds/client/kube-error'
import { mergePatch } from '@tintype/crds/client/patch'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { NewObject, Resource } from '@tintype/crds/client/resource'
import { Annotation, API_VERSION, toObjectName } from '@tintype/crds/identifiers/names'
import type { MovingParts } from '@tintype/crds/kinds/comparison'
import type { LastComparison, RunApproval, ScheduleBaseline } from '@tintype/crds/kinds/schedule-comparison'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ActiveRun, ScreenshotSchedule, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { waitingRunOf } from '@tintype/crds/records/approval'
import { accountOf } from '@tintype/crds/records/record'
import { type StoredRun, toRunSpec } from '@tintype/crds/records/run'
import { runKey, tombstoneKey } from '@tintype/crds/records/storage-keys'
import { findCondition } from '@tintype/crds/schema/conditions'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { RetryableError } from '../../controller-runtime/errors.ts'
import { SCHEDULE_REASONS } from '../../kube/condition-reasons.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { findArchived } from '../../storage/find-archived.ts'
import type { Storage } from '../../storage/storage.ts'
import { keysOfApprovals, updateApprovals } from './approvals.ts'
import { type Approval, approve } from './approve.ts'
import type { Decision, DueRun, Observed } from './decide.ts'
import { type EndedRun, mergeRuns, toActive, toEnded, toRecent } from './ended-run.ts'
import { findFitnessChanges, toFitCondition } from './fitness.ts'
import { chooseBaseline, findChanges, isCarrying, keepBaseline, removeOldPictures, toShare } from './keep-baseline.ts'
import type { ScheduleMetrics } from './metrics.ts'
import { describeNewMoving, toMoving } from './moving.ts'
import { type ObserveDeps, SCHEDULE_INDEX } from './observe.ts'
import { buildStatus, type StatusPatch } from './status.ts'

/** Words of each kind in an Event. */
const EVENT_WORDS = 5

export interface ApplyDeps extends Omit<ObserveDeps, 'shots' | 'storage'> {
  namespace: string
  store: Pick<Resource<ScreenshotSchedule>, 'patch'>
  seenSchedules: Pick<Reflector<ScreenshotSchedule>, 'observe'>
  shots: Pick<Resource<Screenshot>, 'find' | 'create'>
  storage: Pick<Storage, 'readText' | 'exists' | 'write' | 'copy' | 'list' | 'remove'>
  events: EventRecorder
  metrics: ScheduleMetrics
  /** True for a run whose deletion this process has seen. */
  wasDeleted: (name: string) => boolean
  /** True the first time that a text is reported for a schedule. */
  isNew: (uid: string, text: string) => boolean
  isLeader: () => boolean
}

/**
 * Stores the ends of runs and the picture to compare with, creates the run that is due, and then writes the status once. The next leader
 * finds the run by its id if this one stops in between.
 */
export async function apply(observed: Observed, decision: Decision, deps: ApplyDeps): Promise<Requeue> {
  const { schedule } = observed
  let baseline = await finish(schedule, observed.ended, deps)
  const approval = await approve(withBaseline(schedule, baseline), observed.ended, deps)
  const approvals = updateApprovals(withBaseline(schedule, baseline), approval, deps.now())
  if (approval && 'baseline' in approval) baseline = approval.baseline
  const learned = withMoving(withBaseline(schedule, baseline), toMoving(schedule, observed.ended))
  const made = decision.due ? await create(learned, decision.due, deps) : undefined
  // An earlier leader created it, and it has ended since.
  const late = made && hasEnded(made) && !observed.ended.some(({ id }) => id === made.id) ? [made] : []
  if (late.length > 0) baseline = await finish(withBaseline(schedule, baseline), late, deps)
  const progress = {
    open: [...observed.open.filter(({ id }) => id !== made?.id), ...(made && !hasEnded(made) ? [made] : [])],
    ended: [...observed.ended, ...late],
    baseline,
    approvals,
    approvedId: approval && 'baseline' in approval ? approval.baseline?.id : undefined,
    handled: decision.due?.time,
  }
  const status = buildStatus(schedule, decision, progress, deps.now())
  const written = status ? await write(schedule, status, deps) : schedule
  report(schedule, decision, deps)
  reportChanges(schedule, progress.ended, deps)
  reportFitness(withBaseline(schedule, baseline), progress.ended, deps)
  const moving = describeNewMoving(schedule, progress.ended)
  if (moving !== undefined) deps.events.normal(regarding(schedule), 'StillMoving', moving)
  if (approval && written) await settle(written, approval, deps)
  await cleanUp(schedule, { baseline, approvals }, deps)
  return { requeueAfterMilliseconds: decision.requeueAfterMilliseconds }
}

const hasEnded = (run: ActiveRun | EndedRun): run is EndedRun => 'outcome' in run

const withBaseline = (schedule: StoredSchedule, baseline: ScheduleBaseline | undefined): StoredSchedule => ({
  ...schedule,
  status: { ...schedule.status, baseline },
})

const withMoving = (schedule: StoredSchedule, moving: MovingParts | undefined): StoredSchedule => ({
  ...schedule,
  status: { ...schedule.status, moving },
})

/** Stores the ends of runs. Returns the baseline from now on. */
async function finish(schedule: StoredSchedule, ended: readonly EndedRun[], deps: ApplyDeps): Promise<ScheduleBaseline | undefined> {
  for (const run of ended) await record(schedule, run, deps)
  const change = chooseBaseline(schedule, ended)
  if (change.candidates.length > 0 && !deps.isLeader()) throw new RetryableError('leadership lost')
  return keepBaseline(schedule, change, deps.storage)
}

async function record(schedule: StoredSchedule, run: EndedRun, { storage, metrics, isLeader }: ApplyDeps): Promise<void> {
  if (!isLeader()) throw new RetryableError('leadership lost')
  const stored: StoredRun = { version: 1, ...toRecent(run), time: new Date(run.time).toISOString() }
  await storage.write(runKey(accountOf(schedule), schedule.metadata.uid, run.id), JSON.stringify(stored))
  metrics.onEnded(run.outcome)
}

/**
 * Creates a run unless it exists already: as an object, as an archived record, or as a deleted one. An earlier leader may have created it
 * without writing the status. Returns the run, or how it ended.
 */
async function create(schedule: StoredSchedule, due: DueRun, deps: ApplyDeps): Promise<ActiveRun | EndedRun> {
  const { namespace, screenshots, shots, seen, metrics, isLeader } = deps
  const name = toObjectName(due.id)
  const found = screenshots.get(`${namespace}/${name}`) ?? (await findEnded(schedule, due, deps))
  if (found) return 'outcome' in found ? found : toRun(found)
  if (!isLeader()) throw new RetryableError('leadership lost')
  try {
    const shot = await shots.create(toScreenshot(schedule, due))
    seen.observe(shot)
    metrics.onCreated(due.lateMilliseconds / 1_000)
    return toActive(shot)
  } catch (error) {
    if (!isAlreadyExists(error)) throw error
    const shot = await shots.find(name)
    if (!shot) throw new RetryableError('a run with this name was just deleted', { cause: error })
    seen.observe(shot)
    return toRun(shot)
  }
}

const toRun = (shot: Screenshot): ActiveRun | EndedRun => (isFinished(shot) ? toEnded(shot) : toActive(shot))

async function findEnded(schedule: StoredSchedule, { id, time }: DueRun, deps: ApplyDeps): Promise<EndedRun | undefined> {
  const account = accountOf(schedule)
  const [archived, isDeleted] = await Promise.all([findArchived(account, id, deps), deps.storage.exists(tombstoneKey(account, id))])
  if (isDeleted || deps.wasDeleted(toObjectName(id))) return { id, time: time.toISOString(), outcome: 'deleted' }
  return archived && toEnded(archived)
}

/** Builds the Screenshot of a run. */
const toScreenshot = (schedule: StoredSchedule, { id, time }: DueRun): NewObject<Screenshot> => ({
  metadata: { name: toObjectName(id), namespace: schedule.metadata.namespace },
  spec: toRunSpec(schedule, time),
})

/** Writes the status. Returns the schedule afterwards; undefined if it was deleted. */
async function write(schedule: StoredSchedule, status: StatusPatch, deps: ApplyDeps): Promise<StoredSchedule | undefined> {
  return patch(schedule, { status }, 'status', deps)
}

/** Reports the outcome of an approval, and removes its request. */
async function settle(schedule: StoredSchedule, approval: Approval, deps: ApplyDeps): Promise<void> {
  const object = regarding(schedule)
  if ('refusal' in approval) deps.events.warn(object, 'ApprovalRefused', approval.refusal)
  else if ('undone' in approval && approval.isNew) {
    const next = approval.baseline ? `Later runs are compared with run ${approval.baseline.id}.` : 'Approve another run.'
    deps.events.normal(object, 'ApprovalUndone', `The approval of run ${approval.undone.id} was undone. ${next}`)
  } else if ('baseline' in approval && !('undone' in approval) && approval.isNew)
    deps.events.normal(object, 'Approved', `Run ${approval.baseline.id} was approved.`)
  const annotations =
    'request' in approval ? { [Annotation.approve]: approval.request } : { [Annotation.approve]: null, [Annotation.approvedBy]: null }
  await patch(schedule, { metadata: { annotations } }, undefined, deps)
}

async function patch(
  { metadata: { name, namespace, resourceVersion } }: StoredSchedule,
  body: { status: StatusPatch } | { metadata: { annotations: Record<string, string | null> } },
  subresource: 'status' | undefined,
  { store, seenSchedules, isLeader }: ApplyDeps,
): Promise<StoredSchedule | undefined> {
  if (!isLeader()) throw new RetryableError('leadership lost')
  try {
    const written = await store.patch(name, mergePatch(body, { resourceVersion }), { namespace, ...(subresource ? { subresource } : {}) })
    seenSchedules.observe(written)
    return written
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw isConflict(error) ? new RetryableError('the schedule changed', { cause: error }) : error
  }
}

const regarding = (schedule: StoredSchedule) => ({ apiVersion: API_VERSION, kind: 'ScreenshotSchedule', ...schedule })

/** Records an Event for each change, and for a lost baseline. */
function reportChanges(schedule: StoredSchedule, ended: readonly EndedRun[], { events }: ApplyDeps): void {
  for (const found of findChanges(schedule.status?.lastComparison, ended)) {
    const { id, to, changedRatio = 0, sizeChanged } = found
    const size = sizeChanged ? ' The size changed.' : ''
    const message = `Run ${id} differs from run ${to} in ${toShare(changedRatio)} of the pixels.${size}${describeWords(found)}`
    events.normal(regarding(schedule), 'Changed', message)
  }
  const baseline = schedule.status?.baseline
  const carrying = baseline && ended.find((run) => isCarrying(run, baseline))
  if (carrying) {
    const message = `Another browser or other fonts drew run ${carrying.id}. It shows the same as run ${baseline.id}, so later runs are compared with it.`
    events.normal(regarding(schedule), 'EngineChanged', message)
  }
  if (chooseBaseline(schedule, ended).isLost) {
    const { baseline, approveFirst = false } = schedule.spec.comparison ?? {}
    const next = baseline === 'Approved' && !approveFirst ? 'Approve another run.' : 'The next successful run replaces it.'
    const message = `The picture that runs are compared with no longer exists. ${next}`
    events.warn(regarding(schedule), 'BaselineLost', message)
  }
}

const isSameTime = (one: Date, other: string | undefined): boolean => other !== undefined && one.getTime() === Date.parse(other)
/** Records an Event when runs no longer show the page, or show it again, and one for a run that waits for approval. */
function reportFitness(schedule: StoredSchedule, ended: readonly EndedRun[], { events, isNew }: ApplyDeps): void {
  const object = regarding(schedule)
  for (const run of findFitnessChanges(schedule, ended)) {
    const { message } = toFitCondition(run)
    if (run.unfit === undefined) events.normal(object, 'Fit', `Run ${run.id} shows the page again.`)
    else events.warn(object, 'Unfit', message)
  }
  const waiting =
    ended.length > 0
      ? waitingRunOf({ comparison: schedule.spec.comparison, status: schedule.status }, mergeRuns(schedule, ended))
      : undefined
  if (waiting !== undefined && isNew(schedule.metadata.uid, 'approval')) {
    events.normal(object, 'WaitingForApproval', `Run ${waiting} waits for approval. Later runs are compared with the run that you approve.`)
  }
}

/** ` Words: −19.50 +99.50.` */
function describeWords({ textChanged, wordsAdded = [], wordsRemoved = [] }: LastComparison): string {
  if (textChanged === undefined) return ''
  if (!textChanged) return ' The text is the same.'
  const words = [
    ...wordsRemoved.slice(0, EVENT_WORDS).map((word) => `−${word}`),
    ...wordsAdded.slice(0, EVENT_WORDS).map((word) => `+${word}`),
  ]
  return ` Words: ${words.join(' ')}.`
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

/** Records Events: one when a schedule stops or resumes, and one for each run that is missed or waits. */
function report(schedule: StoredSchedule, { ready, missed, waiting, skipped, nextTime }: Decision, { events, isNew }: ApplyDeps): void {
  const object = regarding(schedule)
  const { uid } = schedule.metadata
  const before = findCondition(schedule.status?.conditions, 'Ready')
  const hasChanged = before?.reason !== ready.reason
  if (hasChanged && SCHEDULE_REASONS[ready.reason].event) events.warn(object, ready.reason, ready.message)
  if (hasChanged && before?.status === 'False' && ready.status === 'True') events.normal(object, ready.reason, ready.message)
  if (missed && isNew(uid, `missed ${missed.toISOString()}`))
    events.warn(object, 'RunMissed', `The run of ${missed.toISOString()} was not started within its deadline.`)
  // Once for each next run, also after a change of the leader.
  if (skipped && nextTime && !isSameTime(nextTime, schedule.status?.nextScheduleTime))
    events.warn(
      object,
      'RunSkipped',
      `${skipped} does not exist in ${schedule.spec.timeZone}, because clocks go forward, so it has no run. The next run is at ${nextTime.toISOString()}. To run on that day, choose a time outside the skipped hour.`,
    )
  if (waiting && isNew(uid, `waiting ${waiting.toISOString()}`))
    events.warn(object, 'RunWaiting', `The run of ${waiting.toISOString()} waits until the previous one has ended.`)
}
