// rbac: tintype.dev/screenshotschedules get,list,watch,patch
// rbac: tintype.dev/screenshotschedules/status patch
// rbac: tintype.dev/screenshots get,list,watch,create
// rbac: tintype.dev/accounts list,watch
// rbac: tintype.dev/accountusages list,watch

/**
 * This controller observes ScreenshotSchedules, their runs (Screenshots) and their accounts. It creates a Screenshot for each run that is
 * due, stores in the bucket how each run ended and the picture that the next run is compared with, and writes the status of the schedule:
 * once when a run is created and once when it ends. It requeues when the next run is due, and at least every ten minutes. When the clock
 * is set, it reconciles all schedules.
 */

import { keyOf } from '@tintype/crds/client/kube-object'
import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { ScreenshotSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { accountOf } from '@tintype/crds/records/record'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../controller-runtime/clock.ts'
import type { Requeue } from '../../controller-runtime/controller.ts'
import { ACCOUNT_INDEX } from '../../kube/account-index.ts'
import { createController, type Deps, inTerm, type StartedWork, startControllers, type Work } from '../../runtime/deps.ts'
import { apply } from './apply.ts'
import { requestOf } from './approvals.ts'
import type { ScheduleContext } from './context.ts'
import { decide } from './decide.ts'
import { DeletedSchedules } from './deleted-schedules.ts'
import { createScheduleMetrics } from './metrics.ts'
import { findEnded, observe, SCHEDULE_INDEX } from './observe.ts'

const WORKERS = 16
const MAX_REMEMBERED = 10_000
const CLOCK_CHECK_MILLISECONDS = 1_000
const CLOCK_STEP_MILLISECONDS = 1_000

/** Creates the controller. Call it once per process. */
export function createScheduleController(deps: Deps): Work {
  const { screenshots, schedules } = deps.reflectors
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
  const { screenshots, schedules, accounts } = reflectors
  const deletedSchedules = new DeletedSchedules(context)
  const controller = createController('schedule', { workers: WORKERS }, (key) => reconcile(key, context, deletedSchedules), context)
  controller.watch(schedules, ({ type, object, old }) => {
    if (type === 'deleted') deletedSchedules.add(object)
    // The controller's own writes need no reconcile.
    return type === 'modified' && old && isSameRequest(old, object) ? [] : keyOf(object)
  })
  controller.watch(screenshots, ({ type, object, old }) => (hasRunChanged(type, object, old) ? keysOf(object) : []))
  controller.watch(accounts, ({ object }) => schedules.lister.byIndex(ACCOUNT_INDEX, object.metadata.name).map(keyOf))
  const stopWatching = watchClock(clock, () => {
    for (const schedule of schedules.lister.list()) controller.enqueue(keyOf(schedule), 'resync')
  })
  controller.onStop(stopWatching)
  return startControllers([controller])
}

const isSameRequest = (one: ScreenshotSchedule, other: ScreenshotSchedule): boolean =>
  one.metadata.generation === other.metadata.generation && (requestOf(other) === undefined || requestOf(one) === requestOf(other))

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
