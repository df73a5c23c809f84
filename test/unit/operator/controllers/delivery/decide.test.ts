import t from 'tap'
import type { DeliveryEntry } from '../../../../../crds/src/kinds/screenshot.ts'
import {
  type Action,
  type Candidate,
  type DecideOptions,
  decide,
  type Progress,
} from '../../../../../operator/src/controllers/delivery/decide.ts'
import { at } from '../../../../support/fakes/builders.ts'

const schedule = { delaysMilliseconds: [10_000, 60_000], timeoutMilliseconds: 5_000 }
const optionsAt = (second: number, more: Partial<DecideOptions> = {}): DecideOptions => ({
  schedule,
  mayPost: true,
  isDeleteRequested: false,
  now: at(second),
  ...more,
})

const aCandidate = (given: Partial<Candidate> = {}): Candidate => ({
  event: 'screenshot.completed',
  webhook: 'hook',
  isReceiver: true,
  entry: undefined,
  progress: undefined,
  ...given,
})
const anEntry = (attempts: number, second: number, state: DeliveryEntry['state'] = 'open'): DeliveryEntry => ({
  attempts,
  at: at(second).toISOString(),
  state,
})
const ended = (attempt: number, second: number, statusCode: number, more: object = {}): Progress => ({
  state: 'ended',
  attempt,
  at: at(second),
  isSuccess: statusCode >= 200 && statusCode < 300,
  statusCode,
  jitter: 0,
  ...more,
})

/** Actions in a line: `record hook 1 open @20`, `post hook 2`, `requeue 10`. */
const reported = (actions: Action[]): string[] =>
  actions.flatMap((action) => {
    if (action.do === 'post') return [`post ${action.webhook} ${action.attempt}`]
    if (action.do === 'deleteScreenshot') return ['delete']
    if (action.do === 'requeue') return [`requeue ${action.afterMilliseconds / 1000}`]
    return action.changes.map(({ webhook, after }) => {
      const second = (new Date(after.at).getTime() - at(0).getTime()) / 1000
      return `record ${webhook} ${after.attempts} ${after.state} @${second}`
    })
  })

const cases: [name: string, second: number, given: Partial<Candidate>, does: string[]][] = [
  ['posts a first attempt without a write', 3, {}, ['post hook 1']],
  ['does nothing for a webhook that does not receive the event', 3, { isReceiver: false }, []],
  ['waits while a post is in progress', 3, { progress: { state: 'posting', attempt: 1 } }, []],
  ['waits while a post is queued', 3, { progress: { state: 'waiting', attempt: 1 } }, []],
  ['records a success', 3, { progress: ended(1, 3, 200) }, ['record hook 1 ok @3']],
  ['records a failure and the time of the next attempt', 3, { progress: ended(1, 3, 500) }, ['record hook 1 open @13', 'requeue 10']],
  ['requeues for the next attempt', 4, { entry: anEntry(1, 13) }, ['requeue 9']],
  [
    'records a second attempt before it starts, due after the delay of the third one',
    13,
    { entry: anEntry(1, 13) },
    ['record hook 2 open @73', 'post hook 2'],
  ],
  [
    'records a third attempt before it starts, due after its timeout',
    80,
    { entry: anEntry(2, 80) },
    ['record hook 3 open @90', 'post hook 3'],
  ],
  ['gives up after the third failure', 81, { entry: anEntry(3, 90), progress: ended(3, 81, 0) }, ['record hook 3 failed @81']],
  ['repeats a third attempt that was interrupted, without a write', 95, { entry: anEntry(3, 90) }, ['post hook 3']],
  ['does nothing after a success', 99, { entry: anEntry(1, 3, 'ok') }, []],
  ['does nothing after a final failure', 99, { entry: anEntry(3, 3, 'failed') }, []],
  ['gives up an open delivery whose webhook was deleted', 5, { entry: anEntry(1, 13), isReceiver: false }, ['record hook 1 failed @5']],
  [
    'gives up after a failure when the webhook was deleted meanwhile',
    3,
    { progress: ended(1, 3, 500), isReceiver: false },
    ['record hook 1 failed @3'],
  ],
  [
    'records a success of a webhook that was deleted meanwhile',
    3,
    { progress: ended(1, 3, 200), isReceiver: false },
    ['record hook 1 ok @3'],
  ],
  ['requeues a post that could not be sent', 4, { progress: { state: 'deferred', until: at(9) } }, ['requeue 5']],
  ['posts a deferred delivery again', 9, { progress: { state: 'deferred', until: at(9) } }, ['post hook 1']],
  [
    'waits as long as the receiver requests, at most twice the delay',
    3,
    { progress: ended(1, 3, 503, { retryAfterMilliseconds: 999_000 }) },
    ['record hook 1 open @23', 'requeue 20'],
  ],
  ['delays a first attempt while the circuit is open', 3, { heldUntil: at(30) }, ['requeue 27']],
  ['delays an attempt without recording it', 14, { entry: anEntry(1, 13), heldUntil: at(30) }, ['requeue 16']],
  [
    'continues when the circuit no longer delays it',
    30,
    { entry: anEntry(1, 13), heldUntil: at(30) },
    ['record hook 2 open @90', 'post hook 2'],
  ],
]

for (const [name, second, given, does] of cases) {
  t.test(`decide ${name}`, async (t) => t.strictSame(reported(decide([aCandidate(given)], optionsAt(second))), does))
}

t.test('decide delays a result while another post of the Screenshot is in progress, so that one write contains both', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(reported(decide([fast, slow], optionsAt(3))), [])
  const both = [fast, { ...slow, progress: ended(1, 6, 204) }]
  t.strictSame(reported(decide(both, optionsAt(6))), ['record fast 1 ok @3', 'record slow 1 ok @6'])
})

t.test('decide delays nothing while too many results are not written', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(reported(decide([fast, slow], { ...optionsAt(3), isCrowded: true })), ['record fast 1 ok @3'])
})

t.test('decide delays a failure for a slow post at most until its next attempt is due', async (t) => {
  const failed = aCandidate({ webhook: 'failed', progress: ended(1, 3, 500) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(reported(decide([failed, slow], optionsAt(4))), ['requeue 9'])
  t.strictSame(reported(decide([failed, slow], optionsAt(13))), ['record failed 1 open @13', 'requeue 0'])
  const recorded = aCandidate({ webhook: 'failed', entry: anEntry(1, 13) })
  t.strictSame(reported(decide([recorded, slow], optionsAt(13))), ['record failed 2 open @73', 'post failed 2'])
})

t.test('decide does not delay a result for a queued post', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const queued = aCandidate({ webhook: 'queued', progress: { state: 'waiting', attempt: 1 } })
  t.strictSame(reported(decide([fast, queued], optionsAt(3))), ['record fast 1 ok @3'])
})

t.test('decide adds a delayed result to the record that an attempt needs', async (t) => {
  const due = aCandidate({ webhook: 'due', entry: anEntry(1, 5) })
  const done = aCandidate({ webhook: 'done', progress: ended(1, 4, 200) })
  const busy = aCandidate({ webhook: 'busy', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(reported(decide([due, done, busy], optionsAt(5))), ['record due 2 open @65', 'record done 1 ok @4', 'post due 2'])
})

t.test('decide starts nothing after it lost leadership, and still records results', async (t) => {
  const given = [
    aCandidate({ webhook: 'new' }),
    aCandidate({ webhook: 'due', entry: anEntry(1, 1) }),
    aCandidate({ webhook: 'done', progress: ended(1, 2, 200) }),
  ]
  t.strictSame(reported(decide(given, optionsAt(3, { mayPost: false }))), ['record done 1 ok @2'])
})

t.test('decide puts the expected current entry into each change', async (t) => {
  const entry = anEntry(1, 5)
  const [record] = decide([aCandidate({ entry })], optionsAt(5))
  t.match(record, { changes: [{ before: entry }] })
  const [first] = decide([aCandidate({ progress: ended(1, 3, 418) })], optionsAt(3))
  t.match(first, { changes: [{ before: undefined, statusCode: 418 }] })
})

t.test('decide records how long a response took, unless there was none', async (t) => {
  const changesOf = (progress: Progress) => decide([aCandidate({ progress })], optionsAt(3))[0]
  t.match(changesOf(ended(1, 3, 418, { responseMilliseconds: 70 })), { changes: [{ responseMilliseconds: 70 }] })
  t.match(changesOf(ended(1, 3, 0)), { changes: [{ statusCode: 0, responseMilliseconds: undefined }] })
})

t.test('decide deletes a Screenshot with a requested deletion once its deliveries have ended', async (t) => {
  const asked = optionsAt(5, { isDeleteRequested: true })
  const settled = [aCandidate({ entry: anEntry(1, 3, 'ok') }), aCandidate({ webhook: 'b', entry: anEntry(3, 3, 'failed') })]
  t.strictSame(reported(decide(settled, asked)), ['delete'])
  t.strictSame(reported(decide([], asked)), ['delete'])
  t.strictSame(reported(decide(settled, optionsAt(5))), [])
})

t.test('a deletion does not wait for open deliveries that can continue in the bucket', async (t) => {
  const options = { ...optionsAt(4), isDeleteRequested: true }
  const waiting = aCandidate({ entry: anEntry(1, 13) })
  t.strictSame(decide([waiting], options), [{ do: 'deleteScreenshot' }])
  const posting = aCandidate({ entry: anEntry(1, 13), progress: { state: 'posting', attempt: 2 } })
  t.strictSame(decide([posting], options), [])
  t.match(decide([aCandidate({ entry: anEntry(1, 3) })], options), [{ do: 'record' }, { do: 'post' }], 'one that is due')
})
