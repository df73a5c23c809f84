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
  ['waits while a post is in progress', 3, { progress: { state: 'posting', attempt: 1 } }, []],
  ['waits while a post is queued', 3, { progress: { state: 'waiting', attempt: 1 } }, []],
  ['repeats a third attempt that was interrupted, without a write', 95, { entry: anEntry(3, 90) }, ['post hook 3']],
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
