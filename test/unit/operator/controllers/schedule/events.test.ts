import t from 'tap'
import type { ScreenshotScheduleSpec, ScreenshotScheduleStatus, StoredSchedule } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import type { Decision } from '../../../../../operator/src/controllers/schedule/decide.ts'
import { findEvents } from '../../../../../operator/src/controllers/schedule/events.ts'

const aSchedule = (status: ScreenshotScheduleStatus = {}, spec: Partial<ScreenshotScheduleSpec> = {}): StoredSchedule => ({
  metadata: { name: 'home', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-06-01T00:00:00Z' },
  spec: { schedule: '0 * * * *', timeZone: 'Europe/Zurich', template: { url: 'https://example.com/' }, ...spec },
  status,
})
const aDecision = (given: Partial<Decision> = {}): Decision => ({
  ready: { status: 'True', reason: 'Scheduled', message: 'Runs are created when they are due.' },
  timing: { schedule: '0 * * * *' },
  baseline: { kept: undefined, candidates: [], isLost: false },
  ...given,
})
const ready = (status: 'True' | 'False', reason: string): ScreenshotScheduleStatus => ({
  conditions: [{ type: 'Ready', status, reason, message: 'm', lastTransitionTime: '2026-06-01T00:00:00Z' }],
})
const found = (schedule: StoredSchedule, given: Partial<Decision> = {}) =>
  findEvents(schedule, aDecision(given), [], schedule).map(({ type, reason, once }) => `${type} ${reason}${once ? ' once' : ''}`)
const at = new Date('2026-06-01T09:00:00Z')
const missing = { status: 'False', reason: 'AccountNotFound', message: 'Account acme does not exist.' } as const

for (const [what, schedule, given, expected] of [
  ['nothing for a new schedule', aSchedule(), {}, []],
  ['one when it stops', aSchedule(ready('True', 'Scheduled')), { ready: missing }, ['warn AccountNotFound']],
  ['nothing while it stands still', aSchedule(ready('False', 'AccountNotFound')), { ready: missing }, []],
  ['one when it resumes', aSchedule(ready('False', 'AccountNotFound')), {}, ['normal Scheduled']],
  ['one for a missed run', aSchedule(), { missed: at }, ['warn RunMissed once']],
  ['one for a run that waits', aSchedule(), { waiting: at }, ['warn RunWaiting once']],
  ['one for a skipped run', aSchedule(), { skipped: '2026-03-29 02:30', nextTime: at }, ['warn RunSkipped']],
  ['none if it was reported with the next run', aSchedule({ nextScheduleTime: at.toISOString() }), { skipped: 'x', nextTime: at }, []],
  ['one for a lost picture', aSchedule(), { baseline: { kept: undefined, candidates: [], isLost: true } }, ['warn BaselineLost']],
] as const) {
  t.test(`findEvents finds ${what}`, async (t) => t.strictSame(found(schedule, given), expected))
}
