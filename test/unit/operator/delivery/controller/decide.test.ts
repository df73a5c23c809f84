import t from 'tap'
import type { DeliveryEntry } from '../../../../../crds/src/kinds/screenshot.ts'
import {
  type Action,
  type Candidate,
  type DecideOptions,
  decide,
  type Progress,
} from '../../../../../operator/src/delivery/controller/decide.ts'
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
  jitter: 0.5,
  ...more,
})

/** Actions in a line: `record hook 1 open @20`, `post hook 2`, `requeue 10`. */
const told = (actions: Action[]): string[] =>
  actions.flatMap((action) => {
    if (action.do === 'post') return [`post ${action.webhook} ${action.attempt}`]
    if (action.do === 'deleteScreenshot') return ['delete']
    if (action.do === 'requeue') return [`requeue ${action.afterMilliseconds / 1000}`]
    return action.changes.map(({ webhook, after }) => {
      const second = (new Date(after.at).getTime() - at(0).getTime()) / 1000
      return `record ${webhook} ${after.attempts} ${after.state} @${second}`
    })
  })

const cases: { name: string; given: Partial<Candidate>; second: number; does: string[] }[] = [
  { name: 'posts a first attempt without a write', given: {}, second: 3, does: ['post hook 1'] },
  { name: 'does nothing for who is no receiver', given: { isReceiver: false }, second: 3, does: [] },
  { name: 'waits while a post is under way', given: { progress: { state: 'posting', attempt: 1 } }, second: 3, does: [] },
  { name: 'waits while a post waits for its turn', given: { progress: { state: 'waiting', attempt: 1 } }, second: 3, does: [] },
  { name: 'records a success', given: { progress: ended(1, 3, 200) }, second: 3, does: ['record hook 1 ok @3'] },
  {
    name: 'records a failure and when the next attempt is due',
    given: { progress: ended(1, 3, 500) },
    second: 3,
    does: ['record hook 1 open @13', 'requeue 10'],
  },
  { name: 'comes back when the next attempt is due', given: { entry: anEntry(1, 13) }, second: 4, does: ['requeue 9'] },
  {
    name: 'records a second attempt before it starts, due again after the third one’s delay',
    given: { entry: anEntry(1, 13) },
    second: 13,
    does: ['record hook 2 open @73', 'post hook 2'],
  },
  {
    name: 'records a third attempt before it starts, due again once it must be over',
    given: { entry: anEntry(2, 80) },
    second: 80,
    does: ['record hook 3 open @90', 'post hook 3'],
  },
  {
    name: 'gives up after the third failure',
    given: { entry: anEntry(3, 90), progress: ended(3, 81, 0) },
    second: 81,
    does: ['record hook 3 failed @81'],
  },
  {
    name: 'repeats a third attempt that a kill cut short, without a write',
    given: { entry: anEntry(3, 90) },
    second: 95,
    does: ['post hook 3'],
  },
  { name: 'does nothing about what succeeded', given: { entry: anEntry(1, 3, 'ok') }, second: 99, does: [] },
  { name: 'does nothing about what failed', given: { entry: anEntry(3, 3, 'failed') }, second: 99, does: [] },
  {
    name: 'gives up an open delivery whose webhook is gone',
    given: { entry: anEntry(1, 13), isReceiver: false },
    second: 5,
    does: ['record hook 1 failed @5'],
  },
  {
    name: 'gives up after a failure when the webhook is gone meanwhile',
    given: { progress: ended(1, 3, 500), isReceiver: false },
    second: 3,
    does: ['record hook 1 failed @3'],
  },
  {
    name: 'records a success of a webhook that is gone meanwhile',
    given: { progress: ended(1, 3, 200), isReceiver: false },
    second: 3,
    does: ['record hook 1 ok @3'],
  },
  {
    name: 'comes back to a post that could not leave',
    given: { progress: { state: 'deferred', until: at(9) } },
    second: 4,
    does: ['requeue 5'],
  },
  { name: 'posts again what could not leave', given: { progress: { state: 'deferred', until: at(9) } }, second: 9, does: ['post hook 1'] },
  {
    name: 'waits as long as the receiver asks, twice the delay at most',
    given: { progress: ended(1, 3, 503, { retryAfterMilliseconds: 999_000 }) },
    second: 3,
    does: ['record hook 1 open @23', 'requeue 20'],
  },
]

cases.push(
  { name: 'holds a first attempt back while the circuit is open', given: { heldUntil: at(30) }, second: 3, does: ['requeue 27'] },
  { name: 'holds back and records nothing', given: { entry: anEntry(1, 13), heldUntil: at(30) }, second: 14, does: ['requeue 16'] },
  {
    name: 'goes on when the circuit holds no longer',
    given: { entry: anEntry(1, 13), heldUntil: at(30) },
    second: 30,
    does: ['record hook 2 open @90', 'post hook 2'],
  },
)

for (const { name, given, second, does } of cases) {
  t.test(`decide ${name}`, async (t) => t.strictSame(told(decide([aCandidate(given)], optionsAt(second))), does))
}

t.test('decide holds a result back while another post of the Screenshot is under way, so that one write holds both', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(told(decide([fast, slow], optionsAt(3))), [])
  const both = [fast, { ...slow, progress: ended(1, 6, 204) }]
  t.strictSame(told(decide(both, optionsAt(6))), ['record fast 1 ok @3', 'record slow 1 ok @6'])
})

t.test('decide holds nothing back while too much waits to be written', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(told(decide([fast, slow], { ...optionsAt(3), isCrowded: true })), ['record fast 1 ok @3'])
})

t.test('decide holds a failure back for a slow post no longer than until its next attempt is due', async (t) => {
  const failed = aCandidate({ webhook: 'failed', progress: ended(1, 3, 500) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(told(decide([failed, slow], optionsAt(4))), ['requeue 9'])
  t.strictSame(told(decide([failed, slow], optionsAt(13))), ['record failed 1 open @13', 'requeue 0'])
  const recorded = aCandidate({ webhook: 'failed', entry: anEntry(1, 13) })
  t.strictSame(told(decide([recorded, slow], optionsAt(13))), ['record failed 2 open @73', 'post failed 2'])
})

t.test('decide does not hold a result back for a post that waits for its turn', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const queued = aCandidate({ webhook: 'queued', progress: { state: 'waiting', attempt: 1 } })
  t.strictSame(told(decide([fast, queued], optionsAt(3))), ['record fast 1 ok @3'])
})

t.test('decide adds a held result to the record that an attempt needs', async (t) => {
  const due = aCandidate({ webhook: 'due', entry: anEntry(1, 5) })
  const done = aCandidate({ webhook: 'done', progress: ended(1, 4, 200) })
  const busy = aCandidate({ webhook: 'busy', progress: { state: 'posting', attempt: 1 } })
  t.strictSame(told(decide([due, done, busy], optionsAt(5))), ['record due 2 open @65', 'record done 1 ok @4', 'post due 2'])
})

t.test('decide starts nothing for an operator that leads no more, and still records what has ended', async (t) => {
  const given = [
    aCandidate({ webhook: 'new' }),
    aCandidate({ webhook: 'due', entry: anEntry(1, 1) }),
    aCandidate({ webhook: 'done', progress: ended(1, 2, 200) }),
  ]
  t.strictSame(told(decide(given, optionsAt(3, { mayPost: false }))), ['record done 1 ok @2'])
})

t.test('decide names in each change what must still stand there', async (t) => {
  const entry = anEntry(1, 5)
  const [record] = decide([aCandidate({ entry })], optionsAt(5))
  t.match(record, { changes: [{ before: entry }] })
  const [first] = decide([aCandidate({ progress: ended(1, 3, 418) })], optionsAt(3))
  t.match(first, { changes: [{ before: undefined, statusCode: 418 }] })
})

t.test('decide deletes a Screenshot whose deletion waited, once its deliveries are settled', async (t) => {
  const asked = optionsAt(5, { isDeleteRequested: true })
  const settled = [aCandidate({ entry: anEntry(1, 3, 'ok') }), aCandidate({ webhook: 'b', entry: anEntry(3, 3, 'failed') })]
  t.strictSame(told(decide(settled, asked)), ['delete'])
  t.strictSame(told(decide([], asked)), ['delete'])
  t.strictSame(told(decide([...settled, aCandidate({ webhook: 'c', entry: anEntry(1, 9) })], asked)), ['requeue 4'])
  t.strictSame(told(decide(settled, optionsAt(5))), [])
})
