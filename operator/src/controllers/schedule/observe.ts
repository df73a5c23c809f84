import { screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import { type ActiveRun, MAX_RECENT_RUNS, type RecentRun, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { isDeleted, readArchivedRecord } from '@tintype/crds/storage/archive'
import { toUsageFacts } from '@tintype/crds/usage/usage'
import { findAccount } from '../../kube/find-account.ts'
import { findLive } from '../../kube/find-live.ts'
import { readObject } from '../../kube/read-object.ts'
import type { ScheduleContext } from './context.ts'
import type { DueRun, Observed } from './decide.ts'
import { type EndedRun, toActive, toEnded } from './ended-run.ts'

/** Index of Screenshots by the uid of their schedule. */
export const SCHEDULE_INDEX = 'schedule'

/** Collects the state of a schedule and its runs; undefined when it is deleted. @throws RetryableError */
export async function observe(key: string, deps: ScheduleContext): Promise<Observed | undefined> {
  const { screenshots, schedules, accounts, usages } = deps.reflectors
  const kind = { lister: schedules.lister, client: deps.clients.schedules, outdated: { nextScheduleTime: null } }
  const cached = await findLive(key, kind, deps.now())
  if (!cached) return undefined
  const schedule = readObject('ScreenshotSchedule', StoredSchedule, cached)
  const { uid, namespace } = schedule.metadata
  const account = accountOf(schedule)
  const live = screenshots.lister.byIndex(SCHEDULE_INDEX, uid).filter((run) => !isBeingDeleted(run))
  const lost = await Promise.all(findLost(schedule, live).map((run) => findRun(run, schedule, deps)))
  const runs = [...live, ...lost.filter((run) => 'metadata' in run)]
  const usage = usages.lister.get(`${namespace}/${account}`)
  const facts = usage && toUsageFacts(usage, deps.now())
  return {
    schedule,
    account: findAccount(`${namespace}/${account}`, accounts.lister),
    isQuotaSpent: facts !== undefined && facts.used >= facts.limit,
    open: runs.filter((shot) => !isFinished(shot)).map(toActive),
    ended: [
      ...runs.filter((shot) => isFinished(shot) && !isRecorded(shot, schedule)).map(toEnded),
      ...lost.filter((run) => 'outcome' in run),
    ],
  }
}

/** Runs that had not ended, and are not in the cache. */
function findLost({ status }: StoredSchedule, live: readonly Screenshot[]): ActiveRun[] {
  const ids = new Set(live.map(({ metadata }) => screenshotIdOf(metadata)))
  return (status?.active ?? []).filter(({ id }) => !ids.has(id))
}

/** The cache may be older than the run, and the run may be archived. */
async function findRun({ id, time }: ActiveRun, schedule: StoredSchedule, deps: ScheduleContext): Promise<Screenshot | RecentRun> {
  const live = await deps.clients.screenshots.find(toObjectName(id))
  if (live) deps.reflectors.screenshots.noteWritten(live)
  if (live && !isBeingDeleted(live)) return live
  return (await readArchivedRecord(accountOf(schedule), id, deps)) ?? { id, time, outcome: 'deleted' }
}

/** A run that is due, if an earlier leader created it and it has left the Kubernetes API: an archived record, or a deleted one. */
export async function findEnded(schedule: StoredSchedule, { id, time }: DueRun, deps: ScheduleContext): Promise<EndedRun | undefined> {
  const account = accountOf(schedule)
  if (deps.reflectors.screenshots.lister.get(`${deps.config.namespace}/${toObjectName(id)}`)) return undefined
  const [archived, isGone] = await Promise.all([readArchivedRecord(account, id, deps), isDeleted(account, id, deps.storage)])
  if (isGone || deps.wasDeleted(toObjectName(id))) return { id, time: time.toISOString(), outcome: 'deleted' }
  return archived && toEnded(archived)
}

/** A finished run is recorded if the status has it among the last ones, or has later ones only and does not wait for it. */
function isRecorded(shot: Screenshot, { status = {} }: StoredSchedule): boolean {
  const { id, time } = toActive(shot)
  const { recentRuns = [], active = [] } = status
  if (recentRuns.some((run) => run.id === id)) return true
  const oldest = recentRuns.at(-1)
  const isOlder = oldest !== undefined && recentRuns.length >= MAX_RECENT_RUNS && Date.parse(time) < Date.parse(oldest.time)
  return isOlder && !active.some((run) => run.id === id)
}
