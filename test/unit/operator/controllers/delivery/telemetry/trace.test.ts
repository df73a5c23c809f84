import t from 'tap'
import { spanIds } from '../../../../../../crds/src/runtime/trace-context.ts'
import { toDeliverySpan, toTraceHeaders } from '../../../../../../operator/src/controllers/delivery/telemetry/trace.ts'
import { aScreenshot, at, completedStatus } from '../../../../../support/fakes/builders.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const shotWith = (flags: string) =>
  aScreenshot({
    metadata: { annotations: { 'tintype.dev/traceparent': `00-${TRACE}-b7ad6b7169203331-${flags}` } },
    status: completedStatus(),
  })
const outcome = { isSuccess: false, statusCode: 500, detail: 'the endpoint responded with 500', durationMilliseconds: 40 }

t.test('toTraceHeaders passes the trace of the request to the receiver, with one span per attempt', async (t) => {
  t.strictSame(toTraceHeaders(shotWith('01'), 'dlv_1', 2), { traceparent: `00-${TRACE}-${spanIds.delivery('dlv_1', 2)}-01` })
  t.strictSame(toTraceHeaders(aScreenshot(), 'dlv_1', 1), {})
})

t.test('toDeliverySpan describes one attempt, as a child of the Screenshot', async (t) => {
  const screenshot = shotWith('01')
  const attempt = { screenshot, type: 'screenshot.completed' as const, deliveryId: 'dlv_1', attempt: 1, begun: at(3), outcome }
  t.match(toDeliverySpan(attempt), {
    parentSpanId: spanIds.screenshot(screenshot.metadata.uid),
    startMilliseconds: at(3).getTime(),
    endMilliseconds: at(3).getTime() + 40,
    error: 'the endpoint responded with 500',
  })
  t.equal(toDeliverySpan({ ...attempt, outcome: { ...outcome, isSuccess: true } })?.error, undefined)
  t.equal(toDeliverySpan({ ...attempt, screenshot: shotWith('00') }), undefined)
})
