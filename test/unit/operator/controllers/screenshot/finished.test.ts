import t from 'tap'
import { spanIds } from '../../../../../crds/src/runtime/trace-context.ts'
import { toLogLine, toSpans } from '../../../../../operator/src/controllers/screenshot/finished.ts'
import { aScreenshot, at, completedStatus, failedStatus } from '../../../../support/fakes/builders.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const traced = (flags = '01') => ({ annotations: { 'tintype.dev/traceparent': `00-${TRACE}-${SPAN}-${flags}` } })

t.test('toSpans covers a capture from its creation to its end, as a child of its request', async (t) => {
  const status = completedStatus()
  const shot = aScreenshot({ metadata: traced(), status: { ...status, result: { ...status.result, timings: { navigate: 300 } } } })
  const { uid } = shot.metadata
  t.match(toSpans(shot), [
    {
      traceId: TRACE,
      spanId: spanIds.screenshot(uid),
      parentSpanId: SPAN,
      startMilliseconds: at(0).getTime(),
      endMilliseconds: at(2).getTime(),
      error: undefined,
    },
    {
      traceId: TRACE,
      spanId: spanIds.capture(uid, 1),
      parentSpanId: spanIds.screenshot(uid),
      startMilliseconds: at(1).getTime(),
      attributes: { 'tintype.step.navigate.milliseconds': 300, 'k8s.pod.name': 'default-1' },
    },
  ])
})

t.test('toSpans contains the error of a failed capture', async (t) => {
  const spans = toSpans(aScreenshot({ metadata: traced(), status: failedStatus() }))
  t.strictSame(
    spans.map(({ error }) => error),
    Array.from({ length: 2 }, () => 'DNS_FAILED: example.com does not resolve'),
  )
})

t.test('toSpans is empty when the trace is not sampled', async (t) => {
  t.strictSame(toSpans(aScreenshot({ status: completedStatus() })), [])
  t.strictSame(toSpans(aScreenshot({ metadata: traced('00'), status: completedStatus() })), [])
})

t.test('toLogLine contains nothing about the page', async (t) => {
  const line = toLogLine(aScreenshot({ metadata: traced(), spec: { url: 'https://example.com/?secret' }, status: completedStatus() }))
  t.match(line, {
    key: /^default\/scr-/,
    accountId: 'default',
    phase: 'Completed',
    attempt: 1,
    runnerPod: 'default-1',
    format: 'png',
    waitMilliseconds: 1_000,
    durationMilliseconds: 1_000,
    traceId: TRACE,
  })
  t.notMatch(JSON.stringify(line), /secret|example/)
})
