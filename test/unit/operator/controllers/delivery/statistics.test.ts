import t from 'tap'
import { KubeError } from '../../../../../crds/client/kube-error.ts'
import { Store } from '../../../../../crds/client/lister.ts'
import { silentLog } from '../../../../../crds/client/log.ts'
import type { Patch } from '../../../../../crds/client/patch.ts'
import type { Webhook, WebhookStatistics } from '../../../../../crds/src/kinds/webhook.ts'
import type { DeliveryStateChange } from '../../../../../operator/src/controllers/delivery/decide.ts'
import { addCounts, Statistics, toCounts } from '../../../../../operator/src/controllers/delivery/statistics.ts'
import { at, aWebhook, NOON } from '../../../../support/fakes/builders.ts'

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

/** Statistics of one webhook, with an API server that behaves as `answer` says. */
function setUp(hook: Webhook, answer: () => void = () => {}) {
  const patches: unknown[] = []
  const lister = new Store<Webhook>()
  lister.set(hook)
  const patch = async (_: string, { body }: Patch) => {
    answer()
    patches.push(body)
    return hook
  }
  const statistics = new Statistics({
    clients: { webhooks: { patch } },
    reflectors: { webhooks: { lister } },
    now: () => NOON,
    log: silentLog,
  })
  return { statistics, patches }
}

t.test('Statistics adds its counts to the existing ones, in one write per webhook', async (t) => {
  const hook = aWebhook({ status: { statistics: { total: 10, successful: 9, failed: 1 } } })
  const { statistics, patches } = setUp(hook)
  statistics.count('default/hook', change(undefined, entry(1, 'ok'), 200))
  statistics.count('default/hook', change(entry(3, 'open'), entry(3, 'failed'), 503))
  await statistics.flush()
  await statistics.flush()
  const noon = NOON.toISOString()
  const sum = {
    total: 11,
    successful: 10,
    failed: 2,
    lastStatusCode: 503,
    lastDeliveryTime: noon,
    lastSuccessTime: noon,
    lastFailureTime: noon,
    failingSince: noon,
    consecutiveFailures: 1,
    answers: 0,
    answerMilliseconds: 0,
  }
  t.strictSame(patches, [{ status: { statistics: sum }, metadata: { resourceVersion: '1' } }])
})

t.test('Statistics keeps counts that could not be written for the next flush', async (t) => {
  let isAway = true
  const { statistics, patches } = setUp(aWebhook(), () => {
    if (isAway) throw new KubeError({ status: 409, reason: 'Conflict', message: 'changed' })
  })
  statistics.count('default/hook', change(undefined, entry(1, 'ok'), 200))
  await statistics.flush()
  statistics.count('default/hook', change(undefined, entry(1, 'ok'), 201))
  isAway = false
  await statistics.flush()
  t.match(patches, [{ status: { statistics: { total: 2, successful: 2, lastStatusCode: 201 } } }])
})

t.test('Statistics drops the counts of a deleted webhook', async (t) => {
  const { statistics, patches } = setUp(aWebhook())
  statistics.count('default/other', change(undefined, entry(1, 'ok'), 200))
  await statistics.flush()
  t.strictSame(patches, [])
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
