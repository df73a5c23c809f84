import t from 'tap'
import { parseTraceparent, spanIds, toTraceparent, traceOf } from '../../../../crds/src/runtime/trace-context.ts'
import { aScreenshot } from '../../../support/fakes/builders.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

t.test('parseTraceparent accepts only valid W3C Trace Context headers', async (t) => {
  t.strictSame(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN, isSampled: true })
  t.strictSame(parseTraceparent(`00-${TRACE}-${SPAN}-02`), { traceId: TRACE, spanId: SPAN, isSampled: false })
  const wrong = [
    undefined,
    ['00'],
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\nx: y`,
    `00-${TRACE}-${SPAN}`,
  ]
  for (const text of wrong) t.equal(parseTraceparent(text), undefined, String(text))
})

t.test('toTraceparent and parseTraceparent are inverse', async (t) => {
  for (const text of [`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`]) t.equal(toTraceparent(parseTraceparent(text)!), text)
})

t.test('traceOf finds the trace on an object', async (t) => {
  const annotations = { 'tintype.dev/traceparent': `00-${TRACE}-${SPAN}-01` }
  t.equal(traceOf(aScreenshot({ metadata: { annotations } }))?.traceId, TRACE)
  t.equal(traceOf(aScreenshot()), undefined)
})

t.test('span ids are derived from their subjects, and differ', async (t) => {
  const ids = [spanIds.screenshot('uid'), spanIds.capture('uid', 1), spanIds.capture('uid', 2), spanIds.delivery('dlv_1', 1)]
  t.equal(new Set(ids).size, ids.length)
  for (const id of ids) t.match(id, /^[0-9a-f]{16}$/)
  t.equal(spanIds.capture('uid', 1), ids[1])
})
