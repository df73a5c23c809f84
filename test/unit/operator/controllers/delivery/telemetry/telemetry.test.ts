import t from 'tap'
import { silentLog } from '../../../../../../crds/client/log.ts'
import { logKey } from '../../../../../../crds/src/records/storage-keys.ts'
import { spanIds } from '../../../../../../crds/src/runtime/trace-context.ts'
import { linesOf, MAX_LOG_LINES } from '../../../../../../crds/src/webhooks/deliveries.ts'
import { toSpan, toTraceHeaders } from '../../../../../../operator/src/controllers/delivery/attempt.ts'
import {
  DeliveryLog,
  logPrefixOf,
  toFinding,
  toLoggedResponse,
} from '../../../../../../operator/src/controllers/delivery/telemetry/delivery-log.ts'
import { anAttempt, aScreenshot, at, aWebhook, completedStatus } from '../../../../../support/fakes/builders.ts'
import { MemoryBucket } from '../../../../../support/fakes/memory-bucket.ts'

const hook = aWebhook()
const prefix = logPrefixOf(hook)
const aLine = (n: number) => anAttempt({ delivery: `dlv_${n}`, at: new Date(at(0).getTime() + n).toISOString() })

function aLog(bucket = new MemoryBucket()) {
  let second = 0
  const log = new DeliveryLog({ storage: bucket.storage, now: () => at(++second), log: silentLog, report: () => {} })
  const idsRead = async () => (await log.read(hook)).map(({ delivery }) => delivery)
  return { log, bucket, idsRead }
}

t.test('DeliveryLog writes one object per endpoint and flush, and none without lines', async (t) => {
  const { log, bucket, idsRead } = aLog()
  log.note(hook, aLine(1))
  log.note(hook, aLine(2))
  t.strictSame(await idsRead(), ['dlv_2', 'dlv_1'], 'lines that are not written are read too')
  await log.flush()
  await log.flush()
  t.strictSame(bucket.keys(prefix).map(linesOf), [2])
  t.strictSame(await idsRead(), ['dlv_2', 'dlv_1'])
})

t.test('DeliveryLog keeps lines that cannot be written for the next flush', async (t) => {
  const { log, bucket, idsRead } = aLog()
  bucket.beforeCall = () => {
    throw new Error('the bucket is unavailable')
  }
  log.note(hook, aLine(1))
  await log.flush()
  log.note(hook, aLine(2))
  bucket.beforeCall = () => {}
  await log.flush()
  t.strictSame(bucket.keys(prefix).map(linesOf), [2])
  t.strictSame(await idsRead(), ['dlv_2', 'dlv_1'])
})

t.test('DeliveryLog merges its objects regularly, and keeps the newest lines', async (t) => {
  const { log, bucket, idsRead } = aLog()
  for (let n = 0; n < 600; n++) {
    log.note(hook, aLine(n))
    if (n % 10 === 9) await log.flush()
  }
  const keys = bucket.keys(prefix)
  t.ok(keys.length <= 20, `${keys.length} objects`)
  const ids = await idsRead()
  t.equal(ids.length, MAX_LOG_LINES)
  t.strictSame([ids[0], ids.at(-1)], ['dlv_599', 'dlv_100'])
})

t.test('DeliveryLog limits waiting lines, per endpoint and in total', async (t) => {
  const { log, bucket, idsRead } = aLog()
  for (let n = 0; n < 1_200; n++) log.note(hook, aLine(n))
  await log.flush()
  t.strictSame(bucket.keys(prefix).map(linesOf), [MAX_LOG_LINES])
  t.equal((await idsRead())[0], 'dlv_1199')
})

t.test('DeliveryLog of the next term continues the log of the last one', async (t) => {
  const { log, bucket } = aLog()
  log.note(hook, aLine(1))
  await log.flush()
  const next = aLog(bucket)
  next.log.note(hook, aLine(2))
  await next.log.flush()
  t.strictSame(await next.idsRead(), ['dlv_2', 'dlv_1'])
})

t.test('DeliveryLog keeps unread lines when other objects fill the log', async (t) => {
  const { log, bucket, idsRead } = aLog()
  log.note(hook, aLine(1))
  await log.flush()
  const [own = ''] = bucket.keys(prefix)
  for (let n = 0; n < 70; n++) await bucket.storage.write(logKey(prefix, at(0.5 + n / 1_000), 1, `junk${n}`), 'junk')
  for (let n = 2; n < 40; n++) {
    log.note(hook, aLine(n))
    await log.flush()
  }
  const junk = bucket.keys(prefix).filter((key) => key.includes('junk'))
  t.equal(junk.length, 70, 'unreadable objects stay')
  for (const key of junk) await bucket.storage.remove([key])
  t.ok((await idsRead()).includes('dlv_1'), own)
})

const current = 'whsec_c2VjcmV0IG9mIGEgdGVzdA'
const previous = 'whsec_YW5vdGhlciBzZWNyZXQ'

const answers = [
  { name: 'without the secret', excerpt: `{"secret":"${current}"}`, shown: '{"secret":"***"}' },
  { name: 'without the previous secret', excerpt: `${previous}${current}`, shown: '******' },
  { name: 'without the prefix of a secret at the end', excerpt: `${'x'.repeat(1010)}${current}`, shown: `${'x'.repeat(1010)}***` },
  { name: 'without a character that the limit cuts', excerpt: `${'x'.repeat(1023)}é`, shown: 'x'.repeat(1023) },
  { name: 'with replacement characters for invalid UTF-8', excerpt: Buffer.from([0x61, 0xff, 0x62]), shown: 'a\ufffdb' },
]
for (const { name, excerpt, shown } of answers) {
  t.test(`toLoggedResponse returns a response ${name}`, async (t) => {
    t.equal(toLoggedResponse(Buffer.from(excerpt), { current, previous }), shown)
  })
}

const outcome = { isSuccess: false, statusCode: 0, detail: 'no response in time', durationMilliseconds: 12.6, excerpt: Buffer.alloc(0) }

t.test('toFinding has no response without one', async (t) => {
  t.strictSame(toFinding({ ...outcome, end: 'timeout' }, at(1), { current }), {
    at: at(1).toISOString(),
    milliseconds: 13,
    statusCode: 0,
    outcome: 'timeout',
    detail: 'no response in time',
  })
})

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const shotWith = (flags: string) =>
  aScreenshot({
    metadata: { annotations: { 'tintype.dev/traceparent': `00-${TRACE}-b7ad6b7169203331-${flags}` } },
    status: completedStatus(),
  })
const failure = { isSuccess: false, statusCode: 500, detail: 'the endpoint responded with 500', durationMilliseconds: 40 }

t.test('toTraceHeaders passes the trace of the request to the receiver, with one span per attempt', async (t) => {
  t.strictSame(toTraceHeaders({ record: shotWith('01'), delivery: 'dlv_1', attempt: 2 }), {
    traceparent: `00-${TRACE}-${spanIds.delivery('dlv_1', 2)}-01`,
  })
  t.strictSame(toTraceHeaders({ record: aScreenshot(), delivery: 'dlv_1', attempt: 1 }), {})
})

t.test('toSpan describes one attempt, as a child of the Screenshot', async (t) => {
  const record = shotWith('01')
  const attempt = { record, type: 'screenshot.completed', delivery: 'dlv_1', attempt: 1 }
  t.match(toSpan(attempt, at(3), failure), {
    parentSpanId: spanIds.screenshot(record.metadata.uid),
    startMilliseconds: at(3).getTime(),
    endMilliseconds: at(3).getTime() + 40,
    error: 'the endpoint responded with 500',
  })
  t.equal(toSpan(attempt, at(3), { ...failure, isSuccess: true })?.error, undefined)
  t.equal(toSpan({ ...attempt, record: shotWith('00') }, at(3), failure), undefined)
})
