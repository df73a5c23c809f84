import t from 'tap'
import type { Screenshot, ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import { decide, isFullBatch, isRefundDue, type RetentionSettings } from '../../../../../operator/src/controllers/retention/decide.ts'
import { aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../../support/fakes/builders.ts'

const HOUR = 3_600
const settings: RetentionSettings = { liveMinimumMilliseconds: 60_000, liveForMilliseconds: HOUR * 1_000, maxLive: 100 }
/** A Screenshot that ended so many seconds after noon. */
const ended = (second: number, more: Partial<ScreenshotStatus> = {}): Screenshot =>
  aScreenshot({ name: `shot-${second}`, status: completedStatus({ completionTime: at(second).toISOString(), ...more }) })
const namesAt = (finished: Screenshot[], second: number, changes: Partial<RetentionSettings> = {}) =>
  decide({ finished, termStart: NOON }, { ...settings, ...changes }, at(second)).map(({ metadata }) => metadata.name)

t.test('decide archives records older than liveFor, earliest end first', async (t) => {
  const shots = [ended(200), ended(0), ended(100), ended(3_000)]
  t.strictSame(namesAt(shots, HOUR - 1), [])
  t.strictSame(namesAt(shots, HOUR + 301), ['shot-0', 'shot-100', 'shot-200'])
})

t.test('decide waits a little so that one segment contains many records, but not once there are enough', async (t) => {
  t.strictSame(namesAt([ended(0)], HOUR + 1), [])
  const many = Array.from({ length: 1_000 }, () => ended(0))
  t.equal(namesAt(many, HOUR + 1, { maxLive: 10_000 }).length, 1_000)
})

t.test('decide archives the oldest records early when there are too many, down to a tenth below the limit', async (t) => {
  const shots = Array.from({ length: 105 }, (_, n) => ended(n))
  t.strictSame(
    namesAt(shots, 300),
    Array.from({ length: 15 }, (_, n) => `shot-${n}`),
  )
  t.strictSame(namesAt(shots.slice(0, 100), 300), [])
})

t.test('decide keeps records younger than the minimum, however many there are', async (t) => {
  const shots = Array.from({ length: 105 }, (_, n) => ended(n))
  t.strictSame(namesAt(shots, 62), ['shot-0', 'shot-1', 'shot-2'])
})

t.test('decide skips Screenshots that are being deleted or have not ended', async (t) => {
  const marked = ended(0)
  marked.metadata.annotations = { 'tintype.dev/delete-requested': 'now' }
  const leaving = ended(0)
  leaving.metadata.deletionTimestamp = at(1).toISOString()
  t.strictSame(namesAt([marked, leaving, aScreenshot()], 2 * HOUR), [])
})

t.test('decide keeps restored Screenshots until there are too many records', async (t) => {
  const restored = aScreenshot({
    name: 'restored',
    status: completedStatus({ restoredFrom: 'scr_6ybsne2r7m8z0q3x5v1c4h9kfd', attempt: 0, completionTime: at(-HOUR).toISOString() }),
  })
  t.strictSame(namesAt([restored, ended(0)], 2 * HOUR), ['shot-0'])
  t.strictSame(
    namesAt([ended(10), restored, ended(20)], 2 * HOUR, { maxLive: 2 }),
    ['restored', 'shot-10', 'shot-20'],
    'its age counts from noon',
  )
})

t.test('decide returns at most five thousand records', async (t) => {
  const many = Array.from({ length: 5_001 }, () => ended(0))
  t.equal(namesAt(many, 2 * HOUR, { maxLive: 10_000 }).length, 5_000)
})

t.test('isFullBatch holds for five thousand records, after which more may be due', async (t) => {
  const many = Array.from({ length: 5_000 }, () => ended(0))
  t.strictSame([isFullBatch(many), isFullBatch(many.slice(1))], [true, false])
})

t.test('decide counts the age of a record without a completion time from its creation', async (t) => {
  const { completionTime: _, ...status } = completedStatus()
  const shot = aScreenshot({ name: 'shot', metadata: { creationTimestamp: at(0).toISOString() }, status })
  t.strictSame([namesAt([shot], HOUR - 1), namesAt([shot], HOUR + 301)], [[], ['shot']])
})

t.test('decide archives records with open deliveries like others: an endpoint that is down must not fill the Kubernetes API', async (t) => {
  const open = { 'screenshot.completed': { hook: { attempts: 1, at: at(9).toISOString(), state: 'open' as const } } }
  const shots = [ended(0, { deliveries: open }), ended(1)]
  t.strictSame(namesAt(shots, 100, { liveForMilliseconds: 60_000 }), ['shot-0', 'shot-1'])
})

const reserved = { reservation: 'r1' }
t.test('decide delays records with a pending refund, for an hour after their end and after the start of the term', async (t) => {
  const shots = [aScreenshot({ name: 'shot-0', spec: reserved, status: failedStatus({ completionTime: at(0).toISOString() }) }), ended(1)]
  const short = { liveForMilliseconds: 60_000 }
  t.strictSame(namesAt(shots, HOUR - 1, short), ['shot-1'])
  t.strictSame(namesAt(shots, HOUR, short), ['shot-0', 'shot-1'])
  const late = decide({ finished: shots, termStart: at(10 * HOUR) }, { ...settings, ...short }, at(11 * HOUR - 1))
  t.strictSame(
    late.map(({ metadata }) => metadata.name),
    ['shot-1'],
  )
})

const condition = (type: string) => ({ type, status: 'True' as const, reason: 'R', message: 'm', lastTransitionTime: at(3).toISOString() })
const error = { code: 'TIMEOUT', message: 'm' } as const
const owed: [string, Screenshot, boolean][] = [
  ['nothing of a completed capture', ended(0), false],
  ['the refund of a failed capture that was charged', aScreenshot({ spec: reserved, status: failedStatus() }), true],
  [
    'nothing once the unit was refunded',
    aScreenshot({ spec: reserved, status: failedStatus({ conditions: [condition('Refunded')] }) }),
    false,
  ],
  [
    'nothing for a failed capture whose charge stays, because its page used a runner for 61 seconds',
    aScreenshot({
      spec: reserved,
      status: failedStatus({ attempt: 1, startTime: at(0).toISOString(), result: { error, processingMilliseconds: 61_000 } }),
    }),
    false,
  ],
  ['nothing for a failed capture that was not charged', aScreenshot({ status: failedStatus() }), false],
  [
    'the refund of a capture that was charged at its claim',
    aScreenshot({ status: failedStatus({ conditions: [condition('Charged')] }) }),
    true,
  ],
]
for (const [what, screenshot, is] of owed) {
  t.test(`isRefundDue finds ${what}`, async (t) => t.equal(isRefundDue(screenshot), is))
}
