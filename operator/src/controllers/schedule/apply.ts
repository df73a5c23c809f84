import { isAlreadyExists } from '@tintype/crds/client/kube-error'
import { instrumentsOf } from '@tintype/crds/client/probe-server'
import { API_VERSION, toObjectName } from '@tintype/crds/identifiers/names'
import { isFinished } from '@tintype/crds/kinds/screenshot'
import { RunOutcome, type StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { type StoredRun, toRunSpec } from '@tintype/crds/records/run'
import { runKey } from '@tintype/crds/records/storage-keys'
import { replaceObjects } from '@tintype/crds/schema/merge-patch'
import type { Registry } from 'prom-client'
import { type Requeue, RetryableError } from '../../controller-runtime/controller.ts'
import { patchSeen, patchStatus } from '../../kube/clients.ts'
import { withWhole } from '../../kube/read-object.ts'
import type { Reflectors } from '../../kube/reflectors.ts'
import type { TermDeps } from '../../runtime/deps.ts'
import { approve } from './approve.ts'
import { keepBaseline, removeOldPictures } from './baseline.ts'
import { type Action, decideWrites, type Observed, withStatus } from './decide.ts'
import { type EndedRun, toRecent } from './ended-runs.ts'
import type { Decision } from './status.ts'

/** Index of Screenshots by the uid of their schedule. */
export const SCHEDULE_INDEX = 'schedule'

/** What the parts of the schedule controller use during one term. */
export interface ScheduleContext extends TermDeps {
  metrics: ScheduleMetrics
  /** True for a run whose deletion this process has seen. */
  wasDeleted: (name: string) => boolean
  /** True the first time that a text is reported for a schedule. */
  isNew: (uid: string, text: string) => boolean
}

/** Returns the schedule as it was written; undefined if it was deleted, which ends the reconcile. */
type Handler<Name extends Action['do']> = (
  action: Extract<Action, { do: Name }>,
  schedule: StoredSchedule,
  deps: ScheduleContext,
) => Promise<StoredSchedule | undefined> | StoredSchedule

/**
 * Stores the ends of runs and the picture to compare with, and then executes the actions that follow. The next leader finds a created run by
 * its id if this one stops before the status names it.
 */
export async function apply(observed: Observed, decision: Decision, deps: ScheduleContext): Promise<Requeue> {
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
async function record(schedule: StoredSchedule, run: EndedRun, { storage, metrics }: ScheduleContext): Promise<void> {
  const stored: StoredRun = { version: 1, ...toRecent(run), time: new Date(run.time).toISOString() }
  await storage.write(runKey(accountOf(schedule), schedule.metadata.uid, run.id), JSON.stringify(stored))
  metrics.ended.inc({ outcome: run.outcome })
}

const handlers: { [Name in Action['do']]: Handler<Name> } = {
  /** Creates a run, unless it exists although the cache does not contain it: an earlier leader may have created it. */
  async createRun({ run: { id, time, lateMilliseconds }, of, keyPolicy }, schedule, { clients, reflectors, metrics }) {
    const name = toObjectName(id)
    try {
      await withWhole(of, clients.schedules, (whole) =>
        clients.screenshots.create({ metadata: { name }, spec: toRunSpec(whole, time, keyPolicy) }),
      )
      metrics.lateSeconds.observe(lateMilliseconds / 1_000)
    } catch (error) {
      if (!isAlreadyExists(error)) throw error
      const shot = await clients.screenshots.find(name)
      if (!shot) throw new RetryableError('a run with this name was just deleted', { cause: error })
      // If it has ended, this reconciles the schedule again.
      reflectors.screenshots.noteWritten(shot)
    }
    return schedule
  },

  writeStatus: ({ status }, schedule, { clients }) =>
    patchStatus(clients.schedules, schedule, replaceObjects(schedule.status ?? {}, { ...status })),

  report({ event: { type, reason, message, once } }, schedule, { events, isNew }) {
    if (once === undefined || isNew(schedule.metadata.uid, once))
      events[type]({ apiVersion: API_VERSION, kind: 'ScreenshotSchedule', ...schedule }, reason, message)
    return schedule
  },

  annotate: ({ annotations }, schedule, { clients }) => patchSeen(clients.schedules, schedule, { metadata: { annotations } }),

  /** A failure leaves the pictures until the next change. */
  async removePictures({ kept }, schedule, { reflectors, storage }) {
    const open = reflectors.screenshots.lister.byIndex(SCHEDULE_INDEX, schedule.metadata.uid).filter((shot) => !isFinished(shot))
    const needed = [...kept, ...open.flatMap(({ spec }) => spec.baseline?.key ?? [])]
    await removeOldPictures(schedule, new Set(needed), storage)
    return schedule
  },
}

type ScheduleMetrics = ReturnType<typeof createScheduleMetrics>

const LATE_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3_600]
/** A schedule fails when this many runs in a row have failed. */
const FAILURES = 3

/** Creates the metrics. Call it once per process. */
export function createScheduleMetrics(registry: Registry, schedules: Pick<Reflectors['schedules'], 'lister'>) {
  const { counter, histogram, computed } = instrumentsOf(registry)
  const ended = counter('schedule_runs_ended_total', 'Ended runs of schedules, by outcome: completed, failed, deleted.', ['outcome'])
  for (const outcome of RunOutcome.options) ended.inc({ outcome }, 0)
  computed('schedule_failing', 'Schedules whose last three runs failed, without suspended ones.', [], (gauge) => {
    const isFailing = (runs: readonly { outcome: RunOutcome }[]) =>
      runs.length >= FAILURES && runs.slice(0, FAILURES).every(({ outcome }) => outcome === 'failed')
    gauge.set(schedules.lister.list().filter(({ spec, status }) => !spec.suspend && isFailing(status?.recentRuns ?? [])).length)
  })
  return {
    lateSeconds: histogram('schedule_run_delay_seconds', 'Time from the due time of a scheduled run to its creation.', LATE_BUCKETS),
    ended,
  }
}
