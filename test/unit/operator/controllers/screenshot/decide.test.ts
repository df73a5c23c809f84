import t from 'tap'
import { attemptMilliseconds } from '../../../../../crds/src/dispatch/dispatch.ts'
import type { ScreenshotStatus } from '../../../../../crds/src/kinds/screenshot.ts'
import type { ChargeResult } from '../../../../../operator/src/controllers/screenshot/charge.ts'
import {
  type Action,
  CLOCK_TOLERANCE_MILLISECONDS,
  DEADLINE_GRACE_MILLISECONDS,
  decide,
  decideAfterCharge,
  decideAfterDispatch,
  type Observed,
  type ObservedClaim,
  OptionsError,
  REPORT_MILLISECONDS,
} from '../../../../../operator/src/controllers/screenshot/decide.ts'
import type { PodEnd } from '../../../../../operator/src/runner/pod-state.ts'
import { aScreenshot, at, completedStatus, failedStatus, NOON } from '../../../../support/fakes/builders.ts'

const runner = { pod: 'default-1', uid: 'pod-uid' }
/** Seconds after which an attempt that was claimed at noon is over. */
const deadline = (attemptMilliseconds(undefined) + DEADLINE_GRACE_MILLISECONDS) / 1_000
const expiry = attemptMilliseconds(undefined) / 1_000 + 60

const running = (reason = 'Capturing', more: Partial<ScreenshotStatus> = {}): ScreenshotStatus => ({
  phase: 'Running',
  runner,
  attempt: 1,
  startTime: NOON.toISOString(),
  conditions: [{ type: 'Succeeded', status: 'Unknown', reason, message: `it said ${reason}`, lastTransitionTime: NOON.toISOString() }],
  ...more,
})
const claim = (given: Partial<ObservedClaim> = {}): ObservedClaim => ({
  pod: 'up',
  end: undefined,
  terminatesBy: undefined,
  response: 'running',
  isOwn: true,
  isShared: false,
  delivered: true,
  ...given,
})
const givenUp = (code: string) => ({ uid: 'a', attempt: 1, code, message: 'why' })
const lostOne = { lostRunners: 1 }
const observed = (given: Partial<Observed> = {}): Observed => ({
  shot: aScreenshot(),
  canRun: true,
  mustCharge: false,
  reserved: undefined,
  claim: undefined,
  ...given,
})
const claimed = (given: Partial<ObservedClaim>, status = running()): Observed =>
  observed({ shot: aScreenshot({ status }), claim: claim(given) })

/** A queued Screenshot that a runner is reserved for. */
const queued = (status: ScreenshotStatus) => observed({ reserved: runner, shot: aScreenshot({ status: { phase: 'Pending', ...status } }) })
const endedBy = (cause: PodEnd['cause'], text = '') => ({ pod: 'ended', end: { cause, text } }) as const

/** A claim whose pod does not exist any more, or must end within half a minute. */
const gone = (status?: ScreenshotStatus) => claimed({ pod: 'gone' }, status)
const leaving = (given: Partial<ObservedClaim> = {}, status?: ScreenshotStatus) =>
  claimed({ pod: 'terminating', terminatesBy: at(30), ...given }, status)

const summarize = (action: Action): string => {
  if (action.do === 'requeue') return `requeue ${action.afterMilliseconds}`
  if (action.do === 'fail') return `fail ${action.code}`
  if (action.do === 'note') return `note ${action.reason}`
  if (action.do === 'unclaim') return `unclaim ${action.reason}${action.counts ? '' : ' uncounted'}${action.lost ? ' lost' : ''}`
  if (action.do === 'deletePod') return action.force ? 'deletePod by force' : 'deletePod'
  return action.do
}

const cases: [name: string, observed: Observed, does: string[], second?: number][] = [
  [
    'completes with its archived record, even if it cannot run',
    observed({ canRun: false, archived: aScreenshot({ status: completedStatus() }) }),
    ['release', 'restore'],
  ],
  [
    'completes with an existing picture, even if a runner is reserved',
    observed({ reserved: runner, cached: { version: 1, id: 'scr_1', completedAt: NOON.toISOString(), result: {} } }),
    ['release', 'reuse'],
  ],
  ['releases a deleted Screenshot', observed({ shot: undefined }), ['release']],
  [
    'releases a Screenshot that is being deleted',
    observed({ shot: aScreenshot({ metadata: { deletionTimestamp: NOON.toISOString() } }) }),
    ['release'],
  ],
  ['releases a failed Screenshot', observed({ shot: aScreenshot({ status: failedStatus() }) }), ['release']],

  ['queues a new Screenshot', observed(), ['queue']],
  [
    'charges a Screenshot that no gateway charged before it claims a runner',
    observed({ reserved: runner, mustCharge: true }),
    ['charge', 'claim', 'dispatch'],
  ],
  ['deletes the files of an earlier attempt before the next', queued({ attempt: 1 }), ['removeFiles', 'claim', 'dispatch']],
  ['fails a Screenshot without attempts left', queued({ attempt: 3 }), ['release', 'fail INTERNAL_ERROR']],
  ['gives no runner to a Screenshot that cannot run', observed({ canRun: false, reserved: runner }), ['release']],

  ['polls at the deadline', claimed({}), ['requeue 1000'], deadline - 1],
  [
    'fails with TIMEOUT when a runner that responds exceeds its deadline, and deletes its pod',
    claimed({}),
    ['fail TIMEOUT', 'cancel', 'deletePod'],
    deadline,
  ],
  ['leaves a runner time to report after the deadline', claimed({ response: 'reporting' }), ['requeue 2000'], deadline + 60],
  [
    'fails with TIMEOUT when a runner never finishes its report',
    claimed({ response: 'reporting' }),
    ['fail TIMEOUT', 'cancel', 'deletePod'],
    deadline + REPORT_MILLISECONDS / 1_000,
  ],
  [
    'ends the attempt of a silent runner at the deadline with a reason, and deletes its pod',
    claimed({ response: 'silent' }),
    ['note RunnerLost', 'deletePod'],
    deadline,
  ],
  [
    'dispatches the same attempt again when the runner did not get the order',
    claimed({ response: 'absent', delivered: false }),
    ['dispatch'],
  ],
  [
    'leaves the order of a recent claim to the leader that made it',
    claimed({ response: 'absent', isOwn: false, delivered: false }),
    ['requeue 2000'],
    10,
  ],
  ['sends the order of an old claim of any leader', claimed({ response: 'absent', isOwn: false, delivered: false }), ['dispatch'], 11],
  [
    'does not dispatch again after the deadline',
    claimed({ response: 'absent', delivered: false }),
    ['note AttemptFailed', 'deletePod'],
    deadline,
  ],
  ['ends an attempt that the runner has dropped', claimed({ response: 'absent' }), ['note AttemptFailed', 'deletePod']],
  ['ends an attempt that is done without a report', claimed({ response: 'done' }), ['note AttemptFailed', 'deletePod']],

  ['releases the claim when the pod was deleted', gone(), ['unclaim RunnerLost lost']],
  [
    'does not blame a page for a pod that was silent with a page of another account',
    claimed({ ...endedBy('stopped'), isShared: true }, running('RunnerLost', lostOne)),
    ['unclaim RunnerLost'],
  ],
  [
    'starts another attempt for a page that was ended for the memory of another, and keeps the pod',
    claimed({ response: 'absent', givenUp: givenUp('OUT_OF_MEMORY') }),
    ['unclaim AttemptFailed'],
  ],
  ['blames the page when its second pod is lost', gone(running('Capturing', { attempt: 2, lostRunners: 1 })), ['fail PAGE_CRASHED']],
  [
    'does not count a pod that was deleted after a failed attempt as lost',
    gone(running('AttemptFailed', lostOne)),
    ['unclaim AttemptFailed'],
  ],
  [
    'fails when the third attempt lost its pod, even if it is the first to do so',
    gone(running('Capturing', { attempt: 3 })),
    ['fail INTERNAL_ERROR'],
  ],
  [
    'deletes the pod of a failed attempt and waits for its end',
    claimed({ response: 'absent' }, running('AttemptFailed')),
    ['deletePod', 'requeue 2000'],
  ],
  ['waits for a terminating pod', leaving({}, running('AttemptFailed')), ['requeue 2000'], 30],
  ['force-deletes a pod that does not terminate', leaving({}, running('RunnerLost')), ['deletePod by force', 'requeue 2000'], 35],
  [
    'continues when the upload URL has expired, whether or not the pod has ended',
    leaving({}, running('AttemptFailed')),
    ['unclaim AttemptFailed'],
    expiry,
  ],
  ['lets a terminating pod finish its work', leaving(), ['requeue 10000']],
  ['waits for the end of a terminating pod that has dropped the capture', leaving({ response: 'absent' }), ['requeue 2000']],
  [
    'releases the claim, uncounted, of a runner that is shutting down',
    claimed({ pod: 'terminating', response: 'absent', givenUp: givenUp('STOPPING') }),
    ['unclaim HandedBack uncounted'],
  ],
  [
    'counts an attempt that was returned too often',
    claimed({ pod: 'gone', end: { cause: 'preempted', text: '' } }, running('Capturing', { handedBack: 5 })),
    ['unclaim HandedBack'],
  ],
  ['deletes the files of a pod that returned the capture', queued({ handedBack: 1 }), ['removeFiles', 'claim', 'dispatch']],
  [
    'does not blame the page for a silent pod whose node was lost',
    claimed({ pod: 'gone', end: { cause: 'nodeLost', text: 'its node was removed' } }, running('RunnerLost', lostOne)),
    ['unclaim RunnerLost'],
  ],
  [
    'blames the page for a silent pod that this operator deleted',
    claimed(endedBy('stopped'), running('RunnerLost', lostOne)),
    ['fail PAGE_CRASHED'],
  ],
  [
    'ends the attempt of a silent runner sooner when its pod is not ready either',
    claimed({ response: 'silent', unreadySince: NOON }),
    ['note RunnerLost', 'deletePod'],
    31,
  ],
  [
    'waits for a silent runner that has only just become unready',
    claimed({ response: 'silent', unreadySince: NOON }),
    ['requeue 2000'],
    30,
  ],
  ['tolerates the clock of another leader', claimed({ isOwn: false }), ['requeue 10000'], deadline + 90],
  [
    'tolerates no more than that',
    claimed({ isOwn: false }),
    ['fail TIMEOUT', 'cancel', 'deletePod'],
    deadline + CLOCK_TOLERANCE_MILLISECONDS / 1_000,
  ],
  [
    'releases an incomplete claim',
    observed({ shot: aScreenshot({ status: { phase: 'Running', attempt: 1 } }) }),
    ['unclaim AttemptFailed'],
  ],
  [
    'fails a Screenshot whose runner has ended the last attempt',
    claimed({ response: 'absent', givenUp: givenUp('STORAGE_FAILED') }, running('Capturing', { attempt: 3 })),
    ['fail INTERNAL_ERROR'],
  ],
]
for (const [name, observed, does, second = 0] of cases) {
  t.test(`decide ${name}`, async (t) => t.strictSame(decide(observed, at(second)).map(summarize), does))
}

const texts: [name: string, observed: Observed, message: string][] = [
  [
    'names memory when the second runner ran out of memory',
    claimed(endedBy('outOfMemory', 'out of memory (137)'), running('Capturing', lostOne)),
    'the runner ran out of memory with this page 2 times',
  ],
  ['names the exit code of a lost runner', claimed(endedBy('exited', 'exit code 3')), 'pod default-1 was lost in attempt 1: exit code 3'],
  ['says that a deleted pod no longer exists', gone(), 'pod default-1 was lost in attempt 1: its pod no longer exists'],
  [
    'says why a runner could not finish',
    claimed({ response: 'absent', givenUp: givenUp('STORAGE_FAILED') }),
    'pod default-1, attempt 1: STORAGE_FAILED: why',
  ],
  [
    'keeps the message of the failed attempt',
    gone(running('AttemptFailed', { attempt: 3 })),
    '3 attempts failed; the last: it said AttemptFailed',
  ],
]
for (const [name, observed, message] of texts) {
  t.test(`decide ${name}`, async (t) => t.match(decide(observed, NOON), [{ message }]))
}

const charges: [result: ChargeResult, does: object[]][] = [
  [{ waitMilliseconds: 600 }, [{ do: 'release' }, { do: 'requeue', afterMilliseconds: 600 }]],
  ['quota', [{ do: 'release' }, { do: 'fail', code: 'USAGE_LIMIT_REACHED', reason: 'QuotaExceeded' }]],
  ['suspended', [{ do: 'release' }, { do: 'fail', code: 'ACCOUNT_SUSPENDED' }]],
  ['missing', [{ do: 'release' }, { do: 'note', reason: 'AccountNotFound' }]],
]
for (const [result, does] of charges) {
  t.test(`decideAfterCharge releases the runner, and says why: ${JSON.stringify(result)}`, async (t) => {
    const actions = decideAfterCharge(aScreenshot(), result)
    t.equal(actions?.length, does.length)
    t.match(actions, does)
  })
}

t.test('decideAfterCharge does not repeat the note about a missing Account', async (t) => {
  const shot = aScreenshot({ status: { conditions: running('AccountNotFound').conditions ?? [] } })
  t.strictSame(decideAfterCharge(shot, 'missing'), [{ do: 'release' }])
})

const outcomes = [
  ['polls after an accepted order', { outcome: 'accepted' }, ['requeue 10000']],
  ['waits for the key of a runner that is not identified yet', { outcome: 'unsent' }, ['requeue 2000']],
  ['polls the runner after an order without a response', { outcome: 'silent' }, ['requeue 2000']],
  [
    'releases the claim, uncounted, of a busy runner',
    { outcome: 'busy', with: { uid: 'other', attempt: 1, state: 'running' } },
    ['unclaim RunnerBusy uncounted'],
  ],
  ['releases the claim, uncounted, of a runner that is not ready', { outcome: 'unavailable' }, ['unclaim RunnerBusy uncounted']],
  [
    'ends the attempt of a runner that rejects the order',
    { outcome: 'refused', status: 401, clockAheadMilliseconds: 0 },
    ['note AttemptFailed', 'deletePod'],
  ],
] as const
for (const [name, outcome, does] of outcomes) {
  t.test(`decideAfterDispatch ${name}`, async (t) => {
    t.strictSame(decideAfterDispatch(aScreenshot({ status: running() }), outcome).map(summarize), does)
  })
}

t.test('decideAfterDispatch fails a Screenshot whose options can never be used', async (t) => {
  const error = new OptionsError('no such picture', 'BASELINE_NOT_FOUND')
  const failure = { do: 'fail', code: 'BASELINE_NOT_FOUND', message: 'no such picture' }
  t.strictSame(decideAfterDispatch(aScreenshot({ status: running() }), error), [failure])
})

const clocks = [
  { clockAheadMilliseconds: -95_000, clock: '95 s behind' },
  { clockAheadMilliseconds: 95_000, clock: '95 s ahead of' },
]
for (const { clockAheadMilliseconds, clock } of clocks) {
  t.test(`decideAfterDispatch reports that the clock of a runner that rejected the order is ${clock} the operator’s`, async (t) => {
    const outcome = { outcome: 'refused', status: 401, clockAheadMilliseconds } as const
    t.match(decideAfterDispatch(aScreenshot({ status: running() }), outcome)[0], {
      message: `pod default-1 rejected the order (HTTP 401; its node’s clock is ${clock} the operator’s)`,
    })
  })
}
