import t from 'tap'
import type { ScreenshotScheduleSpec, ScreenshotScheduleStatus } from '../../../../../crds/src/kinds/screenshot-schedule.ts'
import { runIdOf } from '../../../../../crds/src/records/run.ts'
import { decide, type Observed, spreadOf } from '../../../../../operator/src/controllers/schedule/decide.ts'
import { anAccount, aSchedule } from '../../../../support/fakes/builders.ts'

const at = (time: string) => new Date(`2026-06-01T${time}Z`)
const account = anAccount({ name: 'acme' })

function observed(
  spec: Partial<ScreenshotScheduleSpec> = {},
  { status = {}, ...rest }: Partial<Omit<Observed, 'schedule'>> & { status?: ScreenshotScheduleStatus } = {},
): Observed {
  const metadata = { uid: 'u-1', creationTimestamp: '2026-06-01T08:10:00Z' }
  const schedule = aSchedule({ metadata, spec: { accountName: 'acme', ...spec }, status })
  return { schedule, account, isQuotaSpent: false, open: [], ended: [], ...rest }
}

t.test('nothing is due before the first time after the creation', async (t) => {
  const decision = decide(observed(), at('08:59:30'))
  t.match(decision, { ready: { status: 'True', reason: 'Scheduled' }, nextTime: at('09:00:00'), requeueAfterMilliseconds: 30_000 })
  t.equal(decision.due, undefined)
  t.equal(decide(observed(), at('08:11:00')).requeueAfterMilliseconds, 600_000, 'timers are short, because the clock may be set')
})

t.test('a run is due at its time, with an id that depends on the schedule and the time only', async (t) => {
  const { due, nextTime } = decide(observed(), at('09:00:00.250'))
  t.strictSame(due, { id: runIdOf('u-1', at('09:00:00')), time: at('09:00:00'), lateMilliseconds: 250 })
  t.strictSame(nextTime, at('10:00:00'))
  const { schedule, ...rest } = observed()
  const { generation: _, ...metadata } = schedule.metadata
  t.strictSame(decide({ ...rest, schedule: { ...schedule, metadata } }, at('09:59:00')).due?.id, due?.id)
})

t.test('a missed run is made up for within the deadline', async (t) => {
  t.strictSame(decide(observed({ startingDeadlineSeconds: 1_200 }), at('13:20:00')).due?.time, at('13:00:00'))
  const late = decide(observed({ startingDeadlineSeconds: 1_199 }), at('13:20:00'))
  t.strictSame([late.due, late.missed], [undefined, at('13:00:00')])
})

t.test('a run that is done is not due again, also when the clock is set back', async (t) => {
  const status = { lastScheduleTime: '2026-06-01T09:00:00.000Z' }
  t.equal(decide(observed({}, { status }), at('09:30:00')).due, undefined)
  t.equal(decide(observed({}, { status }), at('08:30:00')).due, undefined)
  t.strictSame(decide(observed({}, { status }), at('08:30:00')).nextTime, at('10:00:00'))
})

t.test('a change before the first reconcile starts no run for an earlier time', async (t) => {
  const early = observed()
  early.schedule.metadata.generation = 2
  t.equal(decide(early, at('09:30:00')).due, undefined)
  early.schedule.status = {
    conditions: [{ type: 'Ready', status: 'True', reason: 'Scheduled', message: '', lastTransitionTime: '', observedGeneration: 2 }],
  }
  t.ok(decide(early, at('09:30:00')).due, 'an earlier version has seen this timing')
})

t.test('a change of the timing is recorded while the schedule is not valid or suspended', async (t) => {
  const status = { timing: { schedule: '0 * * * *', since: '2036-01-01T00:00:00Z' } }
  t.match(decide(observed({ schedule: '61 * * * *' }, { status }), at('09:01:00')).timing, { since: '2026-06-01T09:01:00.000Z' })
  t.match(decide(observed({ schedule: '1 * * * *', suspend: true }, { status }), at('09:01:00')).timing, {
    since: '2026-06-01T09:01:00.000Z',
  })
  t.strictSame(decide(observed({}, { status }), at('09:01:00')).timing, status.timing)
  t.strictSame(decide(observed({}, { status }), at('09:01:00')).nextTime, at('10:00:00'), 'a time far in the future stops nothing')
})

t.test('a run that is lost in the hour that clocks skip is named', async (t) => {
  const skippedOf = (schedule: string, now: string, suspend = false) =>
    decide(observed({ schedule, timeZone: 'Europe/Zurich', suspend }), new Date(now)).skipped
  t.equal(skippedOf('30 2 28 3 *', '2026-11-26T12:00:00Z'), '2027-03-28 02:30')
  t.equal(skippedOf('30 2 28 3 *', '2026-11-26T12:00:00Z', true), undefined)
  t.equal(skippedOf('30 2 * * *', '2027-03-27T01:30:00Z'), '2027-03-28 02:30')
  t.equal(skippedOf('30 2 * * *', '2027-03-27T01:29:00Z'), undefined, 'there is a run before')
  t.equal(skippedOf('0 */2 * * *', '2027-03-27T23:30:00Z'), '2027-03-28 02:00')
  t.equal(skippedOf('*/5 * * * *', '2027-03-28T00:57:00Z'), undefined, 'it runs on')
  t.equal(skippedOf('0 2,3 * * *', '2027-03-28T00:30:00Z'), undefined, 'a run follows at once')
  t.equal(skippedOf('30 2 * * *', '2026-10-24T00:30:00Z'), undefined, 'clocks go back')
  t.equal(skippedOf('@every 1h', '2027-03-28T00:30:00Z'), undefined)
})

t.test('a time far in the future, from a wrong clock, does not stop the schedule', async (t) => {
  const status = { lastScheduleTime: '2036-01-01T00:00:00Z' }
  const decision = decide(observed({}, { status }), at('09:30:00'))
  t.strictSame([decision.due, decision.nextTime], [undefined, at('10:00:00')])
})

t.test('a run waits for the previous one, unless runs may overlap', async (t) => {
  const open = [{ id: 'scr_1', time: '2026-06-01T08:00:00Z' }]
  const waiting = decide(observed({}, { open }), at('09:01:00'))
  t.strictSame([waiting.due, waiting.waiting], [undefined, at('09:00:00')])
  t.ok(decide(observed({ concurrencyPolicy: 'Allow' }, { open }), at('09:01:00')).due)
  const own = [{ id: runIdOf('u-1', at('09:00:00')), time: '2026-06-01T09:00:00Z' }]
  const again = decide(observed({}, { open: own }), at('09:01:00'))
  t.strictSame(
    [again.due, again.handled, again.waiting],
    [undefined, at('09:00:00'), undefined],
    'not for itself, and it is not created again',
  )
  const ended = [{ ...own[0]!, outcome: 'completed' as const }]
  t.strictSame(decide(observed({}, { ended }), at('09:01:00')).handled, at('09:00:00'), 'also when it has ended')
  const many = Array.from({ length: 32 }, () => open[0]!)
  t.ok(decide(observed({ concurrencyPolicy: 'Allow' }, { open: many }), at('09:01:00')).waiting, 'up to a limit')
})

t.test('a suspended schedule creates nothing and has no next run', async (t) => {
  const decision = decide(observed({ suspend: true }), at('09:01:00'))
  t.strictSame([decision.due, decision.nextTime, decision.ready.status], [undefined, undefined, 'True'])
})

t.test('the spread of a schedule is within its seconds', async (t) => {
  const spread = spreadOf(observed({ spreadSeconds: 600 }).schedule)
  t.ok(spread > 0 && spread < 600_000)
  t.equal(spreadOf(observed().schedule), 0)
})

for (const [reason, spec, rest] of [
  ['InvalidSchedule', { schedule: '61 * * * *' }, {}],
  ['UnknownTimeZone', { timeZone: 'Mars/Olympus' }, {}],
  ['NeverDue', { schedule: '0 0 30 2 *' }, {}],
  ['AccountNotFound', {}, { account: undefined }],
  ['AccountSuspended', {}, { account: anAccount({ spec: { suspended: true } }) }],
  ['QuotaExceeded', {}, { isQuotaSpent: true }],
] as const) {
  t.test(`${reason} is a condition, and no run is created`, async (t) => {
    const decision = decide(observed(spec, rest), at('09:01:00'))
    t.match(decision.ready, { status: 'False', reason, message: /\.$/ })
    t.equal(decision.due, undefined)
  })
}
