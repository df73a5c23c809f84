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
  ['waits while a post is in progress', 3, { progress: { state: 'posting' } }, []],
  ['waits while a post is queued', 3, { progress: { state: 'waiting' } }, []],
  ['starts an attempt without a write', 14, { entry: anEntry(1, 13) }, ['post hook 2']],
  ['repeats a third attempt that a release before counted when it started', 95, { entry: anEntry(3, 90) }, ['post hook 3']],
]

for (const [name, second, given, does] of cases) {
  t.test(`decide ${name}`, async (t) => t.strictSame(reported(decide([aCandidate(given)], optionsAt(second))), does))
}

t.test('decide delays a result while another post of the Screenshot is in progress, so that one write contains both', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting' } })
  t.strictSame(reported(decide([fast, slow], optionsAt(3))), [])
  const both = [fast, { ...slow, progress: ended(1, 6, 204) }]
  t.strictSame(reported(decide(both, optionsAt(6))), ['record fast 1 ok @3', 'record slow 1 ok @6'])
})

t.test('decide delays nothing while too many results are not written', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const slow = aCandidate({ webhook: 'slow', progress: { state: 'posting' } })
  t.strictSame(reported(decide([fast, slow], { ...optionsAt(3), isCrowded: true })), ['record fast 1 ok @3'])
})

t.test('decide does not delay a result for a queued post', async (t) => {
  const fast = aCandidate({ webhook: 'fast', progress: ended(1, 3, 200) })
  const queued = aCandidate({ webhook: 'queued', progress: { state: 'waiting' } })
  t.strictSame(reported(decide([fast, queued], optionsAt(3))), ['record fast 1 ok @3'])
})

t.test('decide starts nothing after it lost leadership, and still records results', async (t) => {
  const given = [
    aCandidate({ webhook: 'new' }),
    aCandidate({ webhook: 'due', entry: anEntry(1, 1) }),
    aCandidate({ webhook: 'done', progress: ended(1, 2, 200) }),
  ]
  t.strictSame(reported(decide(given, optionsAt(3, { mayPost: false }))), ['record done 1 ok @2'])
})
