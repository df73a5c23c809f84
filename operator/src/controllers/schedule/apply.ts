import { isAlreadyExists } from '@tintype/crds/client/kube-error'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import { API_VERSION, toObjectName } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotSchedule, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import type { StoredRun } from '@tintype/crds/records/run'
import { runKey } from '@tintype/crds/records/storage-keys'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { RetryableError } from '../../controller-runtime/errors.ts'
import type { EventRecorder } from '../../kube/event-recorder.ts'
import { patchSeen, patchStatus, type Writer } from '../../kube/patch-seen.ts'
import type { Storage } from '../../storage/storage.ts'
import { approve } from './approve.ts'
import type { Decision, Observed } from './decide.ts'
import { type Action, decideWrites, withStatus } from './decide-writes.ts'
import { type EndedRun, toRecent } from './ended-run.ts'
import { keepBaseline, removeOldPictures } from './keep-baseline.ts'
import type { ScheduleMetrics } from './metrics.ts'
import { type ObserveDeps, SCHEDULE_INDEX } from './observe.ts'

export interface ApplyDeps extends Omit<ObserveDeps, 'shots' | 'storage'> {
  writer: Writer<ScreenshotSchedule>
  shots: Pick<Resource<Screenshot>, 'find' | 'create'>
  seen: Pick<Reflector<Screenshot>, 'noteWritten'>
  storage: Pick<Storage, 'readText' | 'exists' | 'write' | 'copy' | 'list' | 'remove'>
  events: EventRecorder
  metrics: ScheduleMetrics
  /** True the first time that a text is reported for a schedule. */
  isNew: (uid: string, text: string) => boolean
}

/** Returns the schedule as it was written; undefined if it was deleted, which ends the reconcile. */
type Handler<Name extends Action['do']> = (
  action: Extract<Action, { do: Name }>,
  schedule: StoredSchedule,
  deps: ApplyDeps,
) => Promise<StoredSchedule | undefined> | StoredSchedule

/**
 * Stores the ends of runs and the picture to compare with, and then executes the actions that follow. The next leader finds a created run by
 * its id if this one stops before the status names it.
 */
export async function apply(observed: Observed, decision: Decision, deps: ApplyDeps): Promise<Requeue> {
  const { ended } = observed
  for (const run of ended) await record(observed.schedule, run, deps)
  const kept = await keepBaseline(observed.schedule, decision.baseline, deps.storage)
  const approval = await approve(withStatus(observed.schedule, { baseline: kept }), ended, deps)
  let schedule: StoredSchedule | undefined = observed.schedule
  for (const action of decideWrites(observed, decision, { kept, approval }, deps.now()))
    schedule &&= await (handlers[action.do] as Handler<Action['do']>)(action, schedule, deps)
  return { requeueAfterMilliseconds: decision.requeueAfterMilliseconds }
}

/** Stores the end of a run. */
async function record(schedule: StoredSchedule, run: EndedRun, { storage, metrics }: ApplyDeps): Promise<void> {
  const stored: StoredRun = { version: 1, ...toRecent(run), time: new Date(run.time).toISOString() }
  await storage.write(runKey(accountOf(schedule), schedule.metadata.uid, run.id), JSON.stringify(stored))
  metrics.ended.inc({ outcome: run.outcome })
}

const handlers: { [Name in Action['do']]: Handler<Name> } = {
  /** Creates a run, unless it exists although the cache does not contain it: an earlier leader may have created it. */
  async createRun({ run: { id, lateMilliseconds }, spec }, schedule, { shots, seen, metrics }) {
    const name = toObjectName(id)
    try {
      seen.noteWritten(await shots.create({ metadata: { name, namespace: schedule.metadata.namespace }, spec }))
      metrics.lateSeconds.observe(lateMilliseconds / 1_000)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const shot = await shots.find(name)
      if (!shot) throw new RetryableError('a run with this name was just deleted', { cause: error })
      // If it has ended, this reconciles the schedule again.
      seen.noteWritten(shot)
    }
    return schedule
  },

  writeStatus: ({ status }, schedule, { writer }) => patchStatus(schedule, status, writer),

  report({ event: { type, reason, message, once } }, schedule, { events, isNew }) {
    if (once === undefined || isNew(schedule.metadata.uid, once))
      events[type]({ apiVersion: API_VERSION, kind: 'ScreenshotSchedule', ...schedule }, reason, message)
    return schedule
  },

  annotate: ({ annotations }, schedule, { writer }) => patchSeen(schedule, { metadata: { annotations } }, writer),

  /** A failure leaves the pictures until the next change. */
  async removePictures({ kept }, schedule, { screenshots, storage }) {
    const open = screenshots.byIndex(SCHEDULE_INDEX, schedule.metadata.uid).filter((shot) => !isFinished(shot))
    const needed = [...kept, ...open.flatMap(({ spec }) => spec.baseline?.key ?? [])]
    await removeOldPictures(schedule, new Set(needed), storage)
    return schedule
  },
}
