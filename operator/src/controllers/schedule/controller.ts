// rbac: tintype.dev/screenshotschedules get,list,watch,patch
// rbac: tintype.dev/screenshotschedules/status patch
// rbac: tintype.dev/screenshots get,list,watch,create
// rbac: tintype.dev/accounts list,watch
// rbac: tintype.dev/accountusages list,watch
// rbac: tintype.dev/apikeys list,watch

/**
 * This controller observes ScreenshotSchedules, their runs (Screenshots), their accounts and API keys. It creates a Screenshot for each run that is
 * due, stores in the bucket how each run ended and the picture that the next run is compared with, and writes the status of the schedule:
 * once when a run is created and once when it ends. It requeues when the next run is due, and at least every ten minutes. When the clock
 * is set, it reconciles all schedules.
 */

import { keyOf } from '@tintype/crds/client/kube-object'
import { apiKeyIdOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { toObjectName } from '@tintype/crds/identifiers/names'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import {
  type ActiveRun,
  MAX_RECENT_RUNS,
  type RecentRun,
  type ScreenshotSchedule,
  StoredSchedule,
} from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { scheduleBaselinesPrefix, scheduleOptionsKey } from '@tintype/crds/records/storage-keys'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { isDeleted, readArchivedRecord } from '@tintype/crds/storage/archive'
import { toUsageFacts } from '@tintype/crds/usage/usage'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../controller-runtime/clock.ts'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { findLive, readObject } from '../../kube/read-object.ts'
import { ACCOUNT_INDEX, findAccount, type Reflectors } from '../../kube/reflectors.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type TermDeps, type Work } from '../../runtime/deps.ts'
import { apply, createScheduleMetrics, SCHEDULE_INDEX, type ScheduleContext } from './apply.ts'
import { requestOf } from './approvals.ts'
import { decide, type Observed } from './decide.ts'
import { type EndedRun, toActive, toEnded } from './ended-runs.ts'
import type { DueRun } from './status.ts'

/** Index of ApiKeys by their ids in the REST API. */
const KEY_ID_INDEX = 'key-id'

const WORKERS = 16
const MAX_REMEMBERED = 10_000
const CLOCK_CHECK_MILLISECONDS = 1_000
const CLOCK_STEP_MILLISECONDS = 1_000

/** Creates the controller. Call it once per process. */
export function createScheduleController(deps: Deps): Work {
  const { screenshots, schedules, apiKeys } = deps.reflectors
  apiKeys.lister.addIndex(KEY_ID_INDEX, ({ metadata }) => apiKeyIdOf(metadata))
  screenshots.lister.addIndex(SCHEDULE_INDEX, ({ spec }) => spec.scheduleRef?.uid)
  schedules.lister.addIndex(ACCOUNT_INDEX, accountOf)
  // A standby also remembers deleted runs: a leader may stop after it created a run, and the run may be deleted before the next one looks.
  const deleted = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  screenshots.addListener(({ type, object }) => {
    if (type === 'deleted' && object.spec.scheduleRef) deleted.set(object.metadata.name, true)
  })
  const metrics = createScheduleMetrics(deps.registry, schedules)
  const wasDeleted = (name: string) => deleted.has(name)
  return { start: (term) => startTerm({ ...inTerm(deps, term), metrics, wasDeleted, isNew: onceEach() }) }
}

/** True the first time that a text is reported for a schedule. */
function onceEach(): ScheduleContext['isNew'] {
  const reported = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  return (uid, text) => {
    const key = `${uid} ${text}`
    const isNew = !reported.has(key)
    reported.set(key, true)
    return isNew
  }
}

function startTerm(context: ScheduleContext): StartedWork {
  const { clock, reflectors } = context
  const { screenshots, schedules, accounts, apiKeys } = reflectors
  const deletedSchedules = new DeletedSchedules(context)
  const controller = createController('schedule', { workers: WORKERS }, (key) => reconcile(key, context, deletedSchedules), context)
  controller.watch(schedules, ({ type, object, old }) => {
    if (type === 'deleted') deletedSchedules.add(object)
    // The controller's own writes need no reconcile.
    return type === 'modified' && old && isSameRequest(old, object) ? [] : keyOf(object)
  })
  controller.watch(screenshots, ({ type, object, old }) => (hasRunChanged(type, object, old) ? keysOf(object) : []))
  controller.watch(accounts, ({ object }) => schedules.lister.byIndex(ACCOUNT_INDEX, object.metadata.name).map(keyOf))
  controller.watch(apiKeys, ({ object, old, type }) =>
    hasPolicyChanged(type, object, old) ? schedulesOfKey(object, schedules.lister) : [],
  )
  const stopWatching = watchClock(clock, () => {
    for (const schedule of schedules.lister.list()) controller.enqueue(keyOf(schedule), 'resync')
  })
  controller.onStop(stopWatching)
  return startControllers([controller])
}

const isSameRequest = (one: ScreenshotSchedule, other: ScreenshotSchedule): boolean =>
  one.metadata.generation === other.metadata.generation && (requestOf(other) === undefined || requestOf(one) === requestOf(other))

/** Uses of a key change its status often, and its other fields do not matter to schedules. */
const hasPolicyChanged = (type: string, object: ApiKey, old: ApiKey | undefined): boolean =>
  type !== 'modified' || JSON.stringify(old?.spec.capturePolicy) !== JSON.stringify(object.spec.capturePolicy)

const schedulesOfKey = (key: ApiKey, schedules: Pick<Reflectors['schedules']['lister'], 'byIndex'>): string[] =>
  schedules
    .byIndex(ACCOUNT_INDEX, accountOf(key))
    .filter(({ spec }) => spec.template.capturePolicy?.keyId === apiKeyIdOf(key.metadata))
    .map(keyOf)

/** A run that begins, ends or is deleted changes its schedule. Progress in between does not. */
const hasRunChanged = (type: string, object: Screenshot, old: Screenshot | undefined): boolean =>
  object.spec.scheduleRef !== undefined &&
  (type !== 'modified' || !old || isFinished(old) !== isFinished(object) || isBeingDeleted(old) !== isBeingDeleted(object))

const keysOf = ({ metadata, spec }: Screenshot): string[] => (spec.scheduleRef ? [`${metadata.namespace}/${spec.scheduleRef.name}`] : [])

/** Calls back when the wall clock was set. Returns an unsubscribe function. */
function watchClock(clock: Clock, onStep: () => void): () => void {
  const differenceOf = () => clock.wall() - clock.monotonic()
  let difference = differenceOf()
  let cancel: () => void
  const check = () => {
    const next = differenceOf()
    if (Math.abs(next - difference) > CLOCK_STEP_MILLISECONDS) onStep()
    difference = next
    cancel = clock.after(CLOCK_CHECK_MILLISECONDS, check)
  }
  cancel = clock.after(CLOCK_CHECK_MILLISECONDS, check)
  return () => cancel()
}

/** Reconciles one schedule. */
async function reconcile(key: string, deps: ScheduleContext, deleted: DeletedSchedules): Promise<Requeue | undefined> {
  const observed = await observe(key, deps)
  if (!observed) return deleted.remove(key)
  const now = deps.now()
  const decision = decide(observed, now)
  const late = decision.due && (await findEnded(observed.schedule, decision.due, deps))
  if (!late) return apply(observed, decision, deps)
  const withLate = { ...observed, ended: [...observed.ended, late] }
  return apply(withLate, decide(withLate, now), deps)
}

/** Collects the state of a schedule and its runs; undefined when it is deleted. @throws RetryableError */
export async function observe(key: string, deps: ScheduleContext): Promise<Observed | undefined> {
  const { screenshots, schedules, accounts, apiKeys, usages } = deps.reflectors
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
    keyPolicy: findKeyPolicy(schedule, apiKeys.lister),
    isQuotaSpent: facts !== undefined && facts.used >= facts.limit,
    open: runs.filter((shot) => !isFinished(shot)).map(toActive),
    ended: [
      ...runs.filter((shot) => isFinished(shot) && !isRecorded(shot, schedule)).map(toEnded),
      ...lost.filter((run) => 'outcome' in run),
    ],
  }
}

/** The capture policy that the key of a schedule has now. */
function findKeyPolicy({ spec }: StoredSchedule, apiKeys: Pick<Reflectors['apiKeys']['lister'], 'byIndex'>) {
  const { keyId } = spec.template.capturePolicy ?? {}
  const found = keyId === undefined ? [] : apiKeys.byIndex(KEY_ID_INDEX, keyId)
  return found.find((key) => accountOf(key) === accountOf({ spec }))?.spec.capturePolicy
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
async function findEnded(schedule: StoredSchedule, { id, time }: DueRun, deps: ScheduleContext): Promise<EndedRun | undefined> {
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

/** How often to check whether the last run of a deleted schedule has ended. */
const RECHECK_MILLISECONDS = 30_000

/**
 * Objects in the bucket of deleted schedules: options, and pictures to compare with. They are removed once no run needs them. If no
 * operator sees the deletion, the retention controller removes them.
 */
class DeletedSchedules {
  readonly #deleted = new Map<string, ScreenshotSchedule>()
  readonly #deps: Pick<TermDeps, 'reflectors' | 'storage'>

  constructor(deps: Pick<TermDeps, 'reflectors' | 'storage'>) {
    this.#deps = deps
  }

  /** Adds a deleted schedule. */
  add(schedule: ScreenshotSchedule): void {
    const { spec, status } = schedule
    const hasPictures = status?.baseline !== undefined || status?.approvals !== undefined
    if (spec.template.optionsObject !== undefined || hasPictures) this.#deleted.set(keyOf(schedule), schedule)
  }

  /** Removes the objects of the deleted schedule with a key. @throws RetryableError */
  async remove(key: string): Promise<Requeue | undefined> {
    const schedule = this.#deleted.get(key)
    if (!schedule) return undefined
    const { name, uid } = schedule.metadata
    if (this.#deps.reflectors.screenshots.lister.byIndex(SCHEDULE_INDEX, uid).some((shot) => !isFinished(shot)))
      return { requeueAfterMilliseconds: RECHECK_MILLISECONDS }
    const account = accountOf(schedule)
    if (schedule.spec.template.optionsObject !== undefined) await this.#deps.storage.remove([scheduleOptionsKey(account, name)])
    await this.#deps.storage.removePrefix(scheduleBaselinesPrefix(account, uid))
    this.#deleted.delete(key)
    return undefined
  }
}
