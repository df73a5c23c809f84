import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { mergePatch } from '../../../crds/client/resource.ts'
import { newId, webhookIdOf } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { DeliveryEntry, Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { mapConcurrently } from '../../../crds/src/runtime/lists.ts'
import { createDirectory } from '../../support/directory.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { isFullLength } from '../../support/length.ts'
import { openPodAccount } from '../../support/processes/as-in-pod.ts'
import { type Answer, answerWith, type ReceivedRequest, startHttpsReceiver } from '../../support/servers/https-receiver.ts'
import { openTestStore } from '../../support/servers/test-store.ts'
import { killLeader, type Program, shortLease, startProgram } from '../operator/program.ts'
import { startStage } from './stage.ts'

// Many completed Screenshots, three endpoints each, and an operator that is killed twice. Checks at-least-once delivery from outside: the requests that
// the endpoints received, and status.deliveries. At full length, it takes more than a minute: four thousand posts, three thousand writes, two takeovers.

const SCREENSHOTS = isFullLength ? 1_000 : 120
const WEBHOOKS = ['first', 'second', 'third']
/** Numbers of received posts at which the operator is killed. */
const KILLS_AT = [0.6, 1.5].map((share) => share * SCREENSHOTS)
const WRITERS = 32
/**
 * Maximum number of posts without a recorded result when an operator is killed: 32 that wait to be written, and 8 in progress for each of
 * four endpoints.
 */
const MAX_UNWRITTEN = 32 + 4 * 8
const EVENT = 'screenshot.completed'

const directory = await createDirectory(t, 'thousand')
const stage = await startStage(t)
const store = await openTestStore(t)
// The operator rejects 127.0.0.1 as its own address.
const receiver = await startHttpsReceiver({ directory, host: '127.0.0.2', names: ['IP:127.0.0.2'] })
t.teardown(() => receiver.close())
await writeFile(join(directory, 'ca.pem'), receiver.ca)

const operatorAccount = await openPodAccount(stage.plane.access, { name: 'operator', directory: join(directory, 'account'), grant: true })
let started = 0
const startOperator = (): Promise<Program> =>
  startProgram(
    t,
    {
      TINTYPE_NAMESPACE: stage.plane.namespace,
      TINTYPE_POD_NAME: `operator-${++started}`,
      TINTYPE_POD_UID: `uid-of-operator-${started}`,
      TINTYPE_BOOTSTRAP_ENABLED: 'false',
      TINTYPE_LOG_LEVEL: 'warn',
      TINTYPE_STORAGE_ENDPOINT: store.endpoint,
      TINTYPE_STORAGE_ACCESS_KEY: store.accessKey,
      TINTYPE_STORAGE_SECRET_KEY: store.secretKey,
      ...shortLease,
      TINTYPE_WEBHOOK_TIMEOUT_MILLISECONDS: '20000',
      TINTYPE_WEBHOOK_RETRY_DELAYS_MILLISECONDS: '500,1000',
      TINTYPE_WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      TINTYPE_WEBHOOK_EXTRA_CA_FILE: join(directory, 'ca.pem'),
    },
    operatorAccount,
  )

/** By the last character of the event's id: one in 16 events is always rejected, three in 16 are rejected the first time. */
const answerByEventId: Answer = async (request, response) => {
  const last = request.headers['webhook-id']?.at(-1) ?? ''
  const isRefused = '01'.includes(last) || ('234567'.includes(last) && request.headers['x-webhook-attempt'] === '1')
  await sleep(20) // so that some posts are always in progress
  return answerWith(isRefused ? 503 : 200)(request, response)
}
receiver.answer = answerByEventId

const complete = (name: string): Promise<Screenshot> =>
  stage.shots.patch(name, mergePatch({ status: completedStatus({ completionTime: new Date().toISOString() }) }), { subresource: 'status' })

type DeliveryStates = Map<string, Record<string, DeliveryEntry>>

/** status.deliveries of all Screenshots, by id. */
async function readDeliveryStates(): Promise<DeliveryStates> {
  const all = await stage.shots.listAll()
  return new Map(all.map(({ metadata, status }) => [metadata.name.replace('-', '_'), status?.deliveries?.[EVENT] ?? {}]))
}

interface Kill {
  /** Time at which no request of the killed operator was pending, and the next one was not started yet. */
  at: number
  /** Delivery states between the kill of one operator and the start of the next. */
  states: DeliveryStates
}

/** What one endpoint received of one event. */
interface Receipt {
  screenshot: string
  webhook: string
  requests: ReceivedRequest[]
}

function toReceipts(received: readonly ReceivedRequest[], webhookNames: ReadonlyMap<string, string>): Receipt[] {
  const groups = Map.groupBy(received, ({ headers }) => `${headers['webhook-id']} ${headers['x-webhook-id']}`)
  return [...groups.values()].map((requests) => {
    const { body, headers } = requests[0]!
    return {
      screenshot: JSON.parse(body.toString()).data.screenshot.id as string,
      webhook: webhookNames.get(headers['x-webhook-id'] ?? '') ?? '',
      requests,
    }
  })
}

/** True when the result of the repeated attempt was not recorded when an operator was killed in between. */
function isExcused({ screenshot, webhook }: Receipt, before: ReceivedRequest, after: ReceivedRequest, kills: readonly Kill[]): boolean {
  const attempt = Number(before.headers['x-webhook-attempt'])
  return kills.some(({ at, states }) => {
    const entry = states.get(screenshot)?.[webhook]
    const isUnwritten = entry === undefined || (entry.state === 'open' && entry.attempts <= attempt)
    return before.at <= at && after.at >= at && isUnwritten
  })
}

/** Attempts that an endpoint received again, each with the previous one. */
const findRepeats = ({ requests }: Receipt): [ReceivedRequest, ReceivedRequest][] =>
  requests.flatMap((after, index) => {
    const before = requests.slice(0, index).findLast(({ headers }) => headers['x-webhook-attempt'] === after.headers['x-webhook-attempt'])
    return before ? [[before, after] as [ReceivedRequest, ReceivedRequest]] : []
  })

t.test('every event reaches three endpoints at least once, although the operator is killed twice', { timeout: 540_000 }, async (t) => {
  let operator = await startOperator()
  const names = Array.from({ length: SCREENSHOTS }, () => toObjectName(newId('scr', new Date())))
  await mapConcurrently(names, WRITERS, (name) => stage.shots.create({ metadata: { name }, spec: { url: 'https://example.com/' } }))
  const subscribed = await Promise.all(WEBHOOKS.map((name) => stage.subscribe(name, { url: `${receiver.url}/${name}` })))
  await sleep(1_000) // a webhook receives events after the second of its creation

  const completions = mapConcurrently(names, WRITERS, complete)
  const kills: Kill[] = []
  for (const count of KILLS_AT) {
    await receiver.whenReceived(count)
    await killLeader(operator, stage.http)
    const states = await readDeliveryStates()
    kills.push({ at: Date.now(), states })
    operator = await startOperator()
  }
  // A webhook that is created late, while most deliveries are still pending.
  const late = await stage.subscribe('late', { url: `${receiver.url}/late` })
  await completions
  await sleep(1_000)
  const young = Array.from({ length: 5 }, () => toObjectName(newId('scr', new Date())))
  await mapConcurrently(young, WRITERS, (name) =>
    stage.shots.create({ metadata: { name }, spec: { url: 'https://example.com/' } }).then(() => complete(name)),
  )

  const states = await eventually(
    'every delivery is settled',
    async () => {
      const now = await readDeliveryStates()
      const hasEnded = (id: string) => WEBHOOKS.every((webhook) => /ok|failed/.test(now.get(id)?.[webhook]?.state ?? ''))
      return [...now.keys()].every(hasEnded) && young.every((name) => now.get(name.replace('-', '_'))?.late?.state) && now
    },
    300_000,
  )
  await operator.end('SIGTERM')

  const webhookNames = new Map([...subscribed, late].map(({ metadata }) => [webhookIdOf(metadata), metadata.name]))
  const receipts = toReceipts(receiver.received, webhookNames)
  const reached = new Set(receipts.map(({ screenshot, webhook }) => `${screenshot} ${webhook}`))
  const lost = [...states.keys()].flatMap((id) => WEBHOOKS.map((webhook) => `${id} ${webhook}`)).filter((pair) => !reached.has(pair))
  t.strictSame(lost, [], 'no event is lost')
  t.equal(new Set(receipts.map(({ requests }) => requests[0]?.headers['webhook-id'])).size, states.size, 'each event keeps its id')

  const entries = [...states.values()].flatMap((states) => Object.values(states))
  t.strictSame(
    entries.filter(({ attempts }) => attempts > 3),
    [],
    'at most three attempts are recorded',
  )
  const outcomes = receipts.map(({ screenshot, webhook, requests }) => {
    const isRefused = '01'.includes(requests[0]?.headers['webhook-id']?.at(-1) ?? '')
    return { isRefused, entry: states.get(screenshot)?.[webhook] }
  })
  t.strictSame(
    outcomes.filter(({ isRefused, entry }) => entry?.state !== (isRefused ? 'failed' : 'ok')),
    [],
    'status.deliveries matches the responses of the endpoints',
  )

  const repeats = receipts.flatMap((receipt) => findRepeats(receipt).map(([before, after]) => ({ receipt, before, after })))
  const unexcused = repeats.filter(({ receipt, before, after }) => !isExcused(receipt, before, after, kills))
  t.strictSame(
    unexcused.map(({ receipt, before }) => `${receipt.screenshot} ${receipt.webhook} ${before.headers['x-webhook-attempt']}`),
    [],
    'an attempt is repeated only when its result was not recorded before the operator was killed',
  )
  t.ok(repeats.length <= KILLS_AT.length * MAX_UNWRITTEN, `${repeats.length} repeats`)
  t.ok(
    repeats.every(({ before, after }) => before.body.equals(after.body)),
    'repeated posts are identical, byte for byte',
  )
  t.ok(
    receipts.every(({ requests }) => new Set(requests.map(({ body }) => body.toString('base64'))).size === 1),
    'so are all attempts',
  )

  const receivedLate = receipts.filter(({ webhook }) => webhook === 'late')
  const since = late.status?.activeSince ?? ''
  t.ok(receivedLate.length >= young.length, `${receivedLate.length} events reach the late webhook`)
  t.strictSame(
    receivedLate.map(({ requests }) => JSON.parse(String(requests[0]?.body)).created_at as string).filter((at) => at < since),
    [],
    'a webhook that was activated late receives no earlier events',
  )

  t.comment(`${receiver.received.length} posts, ${repeats.length} repeated; ${receivedLate.length} to the late one`)
})
