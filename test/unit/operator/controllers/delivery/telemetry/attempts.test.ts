import t from 'tap'
import { spanIds } from '../../../../../../crds/src/runtime/trace-context.ts'
import { toFinding, toLoggedResponse } from '../../../../../../operator/src/controllers/delivery/telemetry/attempt-line.ts'
import { toDeliverySpan, toTraceHeaders } from '../../../../../../operator/src/controllers/delivery/telemetry/trace.ts'
import { aScreenshot, at, completedStatus } from '../../../../../support/fakes/builders.ts'

const current = 'whsec_c2VjcmV0IG9mIGEgdGVzdA'
const previous = 'whsec_YW5vdGhlciBzZWNyZXQ'

const answers = [
  { name: 'unchanged', excerpt: 'thanks', shown: 'thanks' },
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

t.test('toFinding has no detail for a success', async (t) => {
  const success = { ...outcome, end: 'answered', isSuccess: true, statusCode: 204 } as const
  t.strictSame(toFinding(success, at(1), { current }), {
    at: at(1).toISOString(),
    milliseconds: 13,
    statusCode: 204,
    outcome: 'success',
    answer: '',
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
  t.strictSame(toTraceHeaders(shotWith('01'), 'dlv_1', 2), { traceparent: `00-${TRACE}-${spanIds.delivery('dlv_1', 2)}-01` })
  t.strictSame(toTraceHeaders(aScreenshot(), 'dlv_1', 1), {})
})

t.test('toDeliverySpan describes one attempt, as a child of the Screenshot', async (t) => {
  const screenshot = shotWith('01')
  const attempt = { screenshot, type: 'screenshot.completed' as const, deliveryId: 'dlv_1', attempt: 1, begun: at(3), outcome: failure }
  t.match(toDeliverySpan(attempt), {
    parentSpanId: spanIds.screenshot(screenshot.metadata.uid),
    startMilliseconds: at(3).getTime(),
    endMilliseconds: at(3).getTime() + 40,
    error: 'the endpoint responded with 500',
  })
  t.equal(toDeliverySpan({ ...attempt, outcome: { ...failure, isSuccess: true } })?.error, undefined)
  t.equal(toDeliverySpan({ ...attempt, screenshot: shotWith('00') }), undefined)
})
