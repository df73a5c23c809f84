import t from 'tap'
import type { WebhookStatistics } from '../../../../../crds/src/kinds/webhook.ts'
import type { DeliveryStateChange } from '../../../../../operator/src/controllers/delivery/decide.ts'
import { addCounts, toCounts } from '../../../../../operator/src/controllers/delivery/statistics.ts'
import { at, NOON } from '../../../../support/fakes/builders.ts'

const entry = (attempts: number, state: 'open' | 'ok' | 'failed') => ({ attempts, at: NOON.toISOString(), state })
const change = (before: DeliveryStateChange['before'], after: DeliveryStateChange['after'], statusCode?: number): DeliveryStateChange => ({
  event: 'screenshot.completed',
  webhook: 'hook',
  before,
  after,
  ...(statusCode === undefined ? {} : { statusCode }),
})

t.test('toCounts counts a delivery once, and its result once', async (t) => {
  const cases: [DeliveryStateChange, object][] = [
    [change(undefined, entry(1, 'ok'), 200), { total: 1, successful: 1, failed: 0, lastStatusCode: 200 }],
    [change(undefined, entry(1, 'open'), 500), { total: 1, successful: 0, failed: 0, lastStatusCode: 500 }],
    [change(entry(1, 'open'), entry(2, 'open')), { total: 0, successful: 0, failed: 0, lastStatusCode: undefined }],
    [change(entry(2, 'open'), entry(2, 'ok'), 204), { total: 0, successful: 1, failed: 0, lastStatusCode: 204 }],
    [change(entry(3, 'open'), entry(3, 'failed'), 0), { total: 0, successful: 0, failed: 1, lastStatusCode: 0 }],
  ]
  for (const [given, counts] of cases) t.match(toCounts(given, NOON), counts)
})

const attempt = (isSuccess: boolean, responseMilliseconds?: number) =>
  toCounts(
    {
      ...change(undefined, entry(1, isSuccess ? 'ok' : 'open'), isSuccess ? 200 : 500),
      ...(responseMilliseconds === undefined ? {} : { responseMilliseconds }),
    },
    NOON,
  )

t.test('addCounts counts the failures since the last success, in any batches', async (t) => {
  const attempts = [false, false, true, false, false, false].map((isSuccess) => attempt(isSuccess))
  for (let cut = 1; cut < attempts.length; cut++) {
    const [before, after] = [attempts.slice(0, cut).reduce(addCounts), attempts.slice(cut).reduce(addCounts)]
    t.equal(addCounts(before, after).consecutiveFailures, 3, `cut after ${cut}`)
  }
})

t.test('addCounts sums the response times', async (t) => {
  t.match([attempt(true, 30), attempt(false), attempt(false, 10)].reduce(addCounts), { answers: 2, answerMilliseconds: 40, total: 3 })
})

t.test('addCounts keeps the start of continuous failures, in any batches', async (t) => {
  const HOUR = 3_600
  const one = (isSuccess: boolean, second: number) =>
    toCounts(change(undefined, entry(1, isSuccess ? 'ok' : 'open'), isSuccess ? 200 : 500), at(second))
  const cases: [name: string, attempts: WebhookStatistics[], since: number][] = [
    ['the first failure', [one(false, 0), one(false, HOUR), one(false, 20 * HOUR)], 0],
    ['a success ends it', [one(false, 0), one(true, 1), one(false, 2), one(false, 3)], 2],
    ['a day without a failure ends it', [one(false, 0), one(false, 24 * HOUR), one(false, 49 * HOUR)], 49 * HOUR],
  ]
  for (const [name, attempts, since] of cases) {
    for (let cut = 1; cut < attempts.length; cut++) {
      const [before, after] = [attempts.slice(0, cut).reduce(addCounts), attempts.slice(cut).reduce(addCounts)]
      t.equal(addCounts(before, after).failingSince, at(since).toISOString(), `${name}, cut after ${cut}`)
    }
  }
})
