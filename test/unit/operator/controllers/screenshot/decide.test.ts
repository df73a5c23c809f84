import t from 'tap'
import { attemptMilliseconds } from '../../../../../crds/src/dispatch/deadline.ts'
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
  REPORT_MILLISECONDS,
} from '../../../../../operator/src/controllers/screenshot/decide.ts'
import { OptionsError } from '../../../../../operator/src/options/options-error.ts'
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

const summarize = (action: Action): string => {
  if (action.do === 'requeue') return `requeue ${action.afterMilliseconds}`
  if (action.do === 'fail') return `fail ${action.code}`
  if (action.do === 'note') return `note ${action.reason}`
  if (action.do === 'unclaim') return `unclaim ${action.reason}${action.counts ? '' : ' uncounted'}${action.lost ? ' lost' : ''}`
  if (action.do === 'deletePod') return action.force ? 'deletePod by force' : 'deletePod'
  return action.do
}

const cases: { name: string; observed: Observed; second?: number; does: string[] }[] = [
  {
    name: 'completes with its archived record, even if it cannot run',
    observed: observed({ canRun: false, archived: aScreenshot({ status: completedStatus() }) }),
    does: ['release', 'restore'],
  },
  {
    name: 'completes with an existing picture, even if a runner is reserved',
    observed: observed({ reserved: runner, cached: { version: 1, id: 'scr_1', completedAt: NOON.toISOString(), result: {} } }),
    does: ['release', 'reuse'],
  },
  { name: 'releases a deleted Screenshot', observed: observed({ shot: undefined }), does: ['release'] },
  {
    name: 'releases a Screenshot that is being deleted',
    observed: observed({ shot: aScreenshot({ metadata: { deletionTimestamp: NOON.toISOString() } }) }),
    does: ['release'],
  },
  {
    name: 'releases a completed Screenshot',
    observed: observed({ shot: aScreenshot({ status: completedStatus() }) }),
    does: ['release'],
  },
  { name: 'releases a failed Screenshot', observed: observed({ shot: aScreenshot({ status: failedStatus() }) }), does: ['release'] },

  { name: 'queues a new Screenshot', observed: observed(), does: ['queue'] },
  {
    name: 'claims and dispatches when a runner is reserved',
    observed: observed({ reserved: runner }),
    does: ['claim', 'dispatch'],
  },
  {
    name: 'charges a Screenshot that no gateway charged before it claims a runner',
    observed: observed({ reserved: runner, mustCharge: true }),
    does: ['charge', 'claim', 'dispatch'],
  },
  {
    name: 'deletes the files of an earlier attempt before the next',
    observed: observed({ reserved: runner, shot: aScreenshot({ status: { phase: 'Pending', attempt: 1 } }) }),
    does: ['removeFiles', 'claim', 'dispatch'],
  },
  {
    name: 'fails a Screenshot without attempts left',
    observed: observed({ reserved: runner, shot: aScreenshot({ status: { phase: 'Pending', attempt: 3 } }) }),
    does: ['release', 'fail INTERNAL_ERROR'],
  },
  { name: 'gives no runner to a Screenshot that cannot run', observed: observed({ canRun: false, reserved: runner }), does: ['release'] },

  { name: 'polls after ten seconds while the runner works', observed: claimed({}), second: 1, does: ['requeue 10000'] },
  { name: 'polls at the deadline', observed: claimed({}), second: deadline - 1, does: ['requeue 1000'] },
  {
    name: 'fails with TIMEOUT when a runner that responds exceeds its deadline, and deletes its pod',
    observed: claimed({}),
    second: deadline,
    does: ['fail TIMEOUT', 'cancel', 'deletePod'],
  },
  {
    name: 'leaves a runner time to report after the deadline',
    observed: claimed({ response: 'reporting' }),
    second: deadline + 60,
    does: ['requeue 2000'],
  },
  {
    name: 'fails with TIMEOUT when a runner never finishes its report',
    observed: claimed({ response: 'reporting' }),
    second: deadline + REPORT_MILLISECONDS / 1_000,
    does: ['fail TIMEOUT', 'cancel', 'deletePod'],
  },
  { name: 'keeps polling a runner that does not respond', observed: claimed({ response: 'silent' }), second: 10, does: ['requeue 2000'] },
  {
    name: 'ends the attempt of a silent runner at the deadline with a reason, and deletes its pod',
    observed: claimed({ response: 'silent' }),
    second: deadline,
    does: ['note RunnerLost', 'deletePod'],
  },
  {
    name: 'dispatches the same attempt again when the runner did not get the order',
    observed: claimed({ response: 'absent', delivered: false }),
    does: ['dispatch'],
  },
  {
    name: 'leaves the order of a recent claim to the leader that made it',
    observed: claimed({ response: 'absent', isOwn: false, delivered: false }),
    second: 10,
    does: ['requeue 2000'],
  },
  {
    name: 'sends the order of an old claim of any leader',
    observed: claimed({ response: 'absent', isOwn: false, delivered: false }),
    second: 11,
    does: ['dispatch'],
  },
  {
    name: 'does not dispatch again after the deadline',
    observed: claimed({ response: 'absent', delivered: false }),
    second: deadline,
    does: ['note AttemptFailed', 'deletePod'],
  },
  {
    name: 'ends an attempt that the runner has dropped',
    observed: claimed({ response: 'absent' }),
    does: ['note AttemptFailed', 'deletePod'],
  },
  {
    name: 'ends an attempt that is done without a report',
    observed: claimed({ response: 'done' }),
    does: ['note AttemptFailed', 'deletePod'],
  },

  { name: 'releases the claim when the pod was deleted', observed: claimed({ pod: 'gone' }), does: ['unclaim RunnerLost lost'] },
  { name: 'releases the claim when the pod has ended', observed: claimed({ pod: 'ended' }), does: ['unclaim RunnerLost lost'] },
  {
    name: 'does not blame a page for a pod that ran out of memory with a page of another account',
    observed: claimed({ pod: 'ended', end: { cause: 'outOfMemory', text: '' }, isShared: true }, running('Capturing', { lostRunners: 1 })),
    does: ['unclaim RunnerLost'],
  },
  {
    name: 'does not blame a page for a pod that was silent with a page of another account',
    observed: claimed({ pod: 'ended', end: { cause: 'stopped', text: '' }, isShared: true }, running('RunnerLost', { lostRunners: 1 })),
    does: ['unclaim RunnerLost'],
  },
  {
    name: 'starts another attempt for a page that was ended for the memory of another, and keeps the pod',
    observed: claimed({ response: 'absent', givenUp: givenUp('OUT_OF_MEMORY') }),
    does: ['unclaim AttemptFailed'],
  },
  {
    name: 'blames the page when its second pod is lost',
    observed: claimed({ pod: 'gone' }, running('Capturing', { attempt: 2, lostRunners: 1 })),
    does: ['fail PAGE_CRASHED'],
  },
  {
    name: 'does not count a pod that was deleted after a failed attempt as lost',
    observed: claimed({ pod: 'gone' }, running('AttemptFailed', { lostRunners: 1 })),
    does: ['unclaim AttemptFailed'],
  },
  {
    name: 'counts a pod that was deleted because it was silent as lost',
    observed: claimed({ pod: 'gone' }, running('RunnerLost', { lostRunners: 1 })),
    does: ['fail PAGE_CRASHED'],
  },
  {
    name: 'fails when the third attempt has failed',
    observed: claimed({ pod: 'gone' }, running('AttemptFailed', { attempt: 3 })),
    does: ['fail INTERNAL_ERROR'],
  },
  {
    name: 'fails when the third attempt lost its pod, even if it is the first to do so',
    observed: claimed({ pod: 'gone' }, running('Capturing', { attempt: 3 })),
    does: ['fail INTERNAL_ERROR'],
  },
  {
    name: 'deletes the pod of a failed attempt and waits for its end',
    observed: claimed({ response: 'absent' }, running('AttemptFailed')),
    does: ['deletePod', 'requeue 2000'],
  },
  {
    name: 'waits for a terminating pod',
    observed: claimed({ pod: 'terminating', terminatesBy: at(30) }, running('AttemptFailed')),
    second: 30,
    does: ['requeue 2000'],
  },
  {
    name: 'force-deletes a pod that does not terminate',
    observed: claimed({ pod: 'terminating', terminatesBy: at(30) }, running('RunnerLost')),
    second: 35,
    does: ['deletePod by force', 'requeue 2000'],
  },
  {
    name: 'continues when the upload URL has expired, whether or not the pod has ended',
    observed: claimed({ pod: 'terminating', terminatesBy: at(30) }, running('AttemptFailed')),
    second: expiry,
    does: ['unclaim AttemptFailed'],
  },
  {
    name: 'lets a terminating pod finish its work',
    observed: claimed({ pod: 'terminating', terminatesBy: at(30) }),
    does: ['requeue 10000'],
  },
  {
    name: 'waits for the end of a terminating pod that is silent',
    observed: claimed({ pod: 'terminating', response: 'silent', terminatesBy: at(30) }),
    does: ['requeue 2000'],
  },
  {
    name: 'waits for the end of a terminating pod that has dropped the capture',
    observed: claimed({ pod: 'terminating', response: 'absent', terminatesBy: at(30) }),
    does: ['requeue 2000'],
  },
  {
    name: 'releases the claim, uncounted, of a runner that is shutting down',
    observed: claimed({ pod: 'terminating', response: 'absent', givenUp: givenUp('STOPPING') }),
    does: ['unclaim HandedBack uncounted'],
  },
  {
    name: 'releases the claim at once of a runner that could not finish, and keeps its pod',
    observed: claimed({ response: 'absent', givenUp: givenUp('INTERNAL_ERROR') }),
    does: ['unclaim AttemptFailed'],
  },
  {
    name: 'counts no attempt on a drained pod',
    observed: claimed({ pod: 'ended', end: { cause: 'drained', text: 'its node was drained' } }),
    does: ['unclaim HandedBack uncounted'],
  },
  {
    name: 'counts an attempt that was returned too often',
    observed: claimed({ pod: 'gone', end: { cause: 'preempted', text: '' } }, running('Capturing', { handedBack: 5 })),
    does: ['unclaim HandedBack'],
  },
  {
    name: 'deletes the files of a pod that returned the capture',
    observed: observed({ reserved: runner, shot: aScreenshot({ status: { phase: 'Pending', handedBack: 1 } }) }),
    does: ['removeFiles', 'claim', 'dispatch'],
  },
  {
    name: 'counts the attempt but does not blame the page when a node is lost',
    observed: claimed({ pod: 'gone', end: { cause: 'nodeLost', text: 'its node was removed' } }, running('Capturing', { lostRunners: 1 })),
    does: ['unclaim RunnerLost'],
  },
  {
    name: 'does not blame the page for a silent pod whose node was lost',
    observed: claimed({ pod: 'gone', end: { cause: 'nodeLost', text: 'its node was removed' } }, running('RunnerLost', { lostRunners: 1 })),
    does: ['unclaim RunnerLost'],
  },
  {
    name: 'blames the page for a silent pod that this operator deleted',
    observed: claimed({ pod: 'ended', end: { cause: 'stopped', text: '' } }, running('RunnerLost', { lostRunners: 1 })),
    does: ['fail PAGE_CRASHED'],
  },
  {
    name: 'ends the attempt of a silent runner sooner when its pod is not ready either',
    observed: claimed({ response: 'silent', unreadySince: NOON }),
    second: 31,
    does: ['note RunnerLost', 'deletePod'],
  },
  {
    name: 'waits for a silent runner that has only just become unready',
    observed: claimed({ response: 'silent', unreadySince: NOON }),
    second: 30,
    does: ['requeue 2000'],
  },
  {
    name: 'tolerates the clock of another leader',
    observed: claimed({ isOwn: false }),
    second: deadline + 90,
    does: ['requeue 10000'],
  },
  {
    name: 'tolerates no more than that',
    observed: claimed({ isOwn: false }),
    second: deadline + CLOCK_TOLERANCE_MILLISECONDS / 1_000,
    does: ['fail TIMEOUT', 'cancel', 'deletePod'],
  },
  {
    name: 'releases an incomplete claim',
    observed: observed({ shot: aScreenshot({ status: { phase: 'Running', attempt: 1 } }) }),
    does: ['unclaim AttemptFailed'],
  },
  {
    name: 'fails a Screenshot whose runner has ended the last attempt',
    observed: claimed({ response: 'absent', givenUp: givenUp('STORAGE_FAILED') }, running('Capturing', { attempt: 3 })),
    does: ['fail INTERNAL_ERROR'],
  },
]
for (const { name, observed, second = 0, does } of cases) {
  t.test(`decide ${name}`, async (t) => t.strictSame(decide(observed, at(second)).map(summarize), does))
}

const texts = [
  {
    name: 'names memory when the second runner ran out of memory',
    observed: claimed(
      { pod: 'ended', end: { cause: 'outOfMemory', text: 'out of memory (137)' } },
      running('Capturing', { lostRunners: 1 }),
    ),
    message: 'the runner ran out of memory with this page 2 times',
  },
  {
    name: 'names the exit code of a lost runner',
    observed: claimed({ pod: 'ended', end: { cause: 'exited', text: 'exit code 3' } }),
    message: 'pod default-1 was lost in attempt 1: exit code 3',
  },
  {
    name: 'says that a deleted pod no longer exists',
    observed: claimed({ pod: 'gone' }),
    message: 'pod default-1 was lost in attempt 1: its pod no longer exists',
  },
  {
    name: 'says why a runner could not finish',
    observed: claimed({ response: 'absent', givenUp: givenUp('STORAGE_FAILED') }),
    message: 'pod default-1, attempt 1: STORAGE_FAILED: why',
  },
  {
    name: 'keeps the message of the failed attempt',
    observed: claimed({ pod: 'gone' }, running('AttemptFailed', { attempt: 3 })),
    message: '3 attempts failed; the last: it said AttemptFailed',
  },
]
for (const { name, observed, message } of texts) {
  t.test(`decide ${name}`, async (t) => t.match(decide(observed, NOON), [{ message }]))
}

const charges: { result: ChargeResult; does?: object[] }[] = [
  { result: 'charged' },
  { result: { waitMilliseconds: 600 }, does: [{ do: 'release' }, { do: 'requeue', afterMilliseconds: 600 }] },
  { result: 'quota', does: [{ do: 'release' }, { do: 'fail', code: 'USAGE_LIMIT_REACHED', reason: 'QuotaExceeded' }] },
  { result: 'suspended', does: [{ do: 'release' }, { do: 'fail', code: 'ACCOUNT_SUSPENDED' }] },
  { result: 'missing', does: [{ do: 'release' }, { do: 'note', reason: 'AccountNotFound' }] },
]
for (const { result, does } of charges) {
  t.test(`decideAfterCharge keeps a runner only for a charged Screenshot, and says why: ${JSON.stringify(result)}`, async (t) => {
    const actions = decideAfterCharge(aScreenshot(), result)
    t.equal(actions?.length, does?.length)
    t.match(actions ?? [], does ?? [])
  })
}

t.test('decideAfterCharge does not repeat the note about a missing Account', async (t) => {
  const shot = aScreenshot({ status: { conditions: running('AccountNotFound').conditions ?? [] } })
  t.strictSame(decideAfterCharge(shot, 'missing'), [{ do: 'release' }])
})

const outcomes = [
  { name: 'polls after an accepted order', outcome: { outcome: 'accepted' }, does: ['requeue 10000'] },
  { name: 'waits for the key of a runner that is not identified yet', outcome: { outcome: 'unsent' }, does: ['requeue 2000'] },
  { name: 'polls the runner after an order without a response', outcome: { outcome: 'silent' }, does: ['requeue 2000'] },
  {
    name: 'releases the claim, uncounted, of a busy runner',
    outcome: { outcome: 'busy', with: { uid: 'other', attempt: 1, state: 'running' } },
    does: ['unclaim RunnerBusy uncounted'],
  },
  {
    name: 'releases the claim, uncounted, of a runner that is not ready',
    outcome: { outcome: 'unavailable' },
    does: ['unclaim RunnerBusy uncounted'],
  },
  {
    name: 'ends the attempt of a runner that rejects the order',
    outcome: { outcome: 'refused', status: 401, clockAheadMilliseconds: 0 },
    does: ['note AttemptFailed', 'deletePod'],
  },
] as const
for (const { name, outcome, does } of outcomes) {
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
