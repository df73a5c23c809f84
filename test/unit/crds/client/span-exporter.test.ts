import t, { type Test } from 'tap'
import { silentLog } from '../../../../crds/client/log.ts'
import { type Span, SpanExporter } from '../../../../crds/client/span-exporter.ts'
import { type Exchange, startScriptedServer, until } from './scripted-server.ts'

// A minimal collector: it stores the OTLP JSON that is posted to it.

interface Export {
  resourceSpans: { resource: { attributes: object[] }; scopeSpans: { spans: Record<string, unknown>[] }[] }[]
}

/** A collector and an exporter that sends to it. The first `refusals` requests get a 503. */
async function startExporter(t: Test, refusals = 0) {
  const received: Export[] = []
  const counts = { refused: 0 }
  const answer = ({ body, response }: Exchange) => {
    if (counts.refused < refusals) return response.writeHead(503).end(String(++counts.refused))
    received.push(body as Export)
    return response.end('{}')
  }
  const { url, exchanges } = await startScriptedServer(t, answer)
  const settings = { endpoint: `${url}/`, headers: { 'x-key': 'k' }, resource: { 'service.name': 'test' } }
  const exporter = new SpanExporter({ ...settings, log: silentLog, intervalMilliseconds: 10 })
  const sent = () => received.flatMap(({ resourceSpans }) => resourceSpans.flatMap(({ scopeSpans }) => scopeSpans[0]?.spans ?? []))
  return { exporter, exchanges, received, counts, sent }
}

const traceId = '0af7651916cd43dd8448eb211c80319c'
const idOf = (number: number): string => number.toString(16).padStart(16, '0')
const aSpan = (number: number): Span => ({
  ...{ traceId, spanId: idOf(number), name: 'capture', kind: 'internal', error: 'DNS_FAILED' },
  ...{ startMilliseconds: 1_763_726_400_000.25, endMilliseconds: 1_763_726_400_500 },
  attributes: { pod: 'default-1', attempt: 1, part: 0.5, cached: false, absent: undefined },
})

t.test('SpanExporter sends spans as OTLP JSON, with the collector’s headers', async (t) => {
  const { exporter, exchanges, received, sent } = await startExporter(t)
  exporter.add(aSpan(1))
  await until(() => received.length > 0, 'the spans have arrived')
  await exporter.stop()
  t.match(exchanges, [{ method: 'POST', path: '/v1/traces', headers: { 'x-key': 'k' } }])
  t.strictSame(received[0]?.resourceSpans[0]?.resource.attributes, [{ key: 'service.name', value: { stringValue: 'test' } }])
  t.strictSame(sent()[0], {
    ...{ traceId, spanId: '0000000000000001', name: 'capture', kind: 1 },
    startTimeUnixNano: '1763726400000250000',
    endTimeUnixNano: '1763726400500000000',
    attributes: [
      { key: 'pod', value: { stringValue: 'default-1' } },
      { key: 'attempt', value: { intValue: '1' } },
      { key: 'part', value: { doubleValue: 0.5 } },
      { key: 'cached', value: { boolValue: false } },
    ],
    status: { code: 2, message: 'DNS_FAILED' },
  })
})

t.test('SpanExporter sends waiting spans when it stops', async (t) => {
  const { exporter, sent } = await startExporter(t)
  for (let number = 1; number <= 1_000; number++) exporter.add(aSpan(number))
  await exporter.stop()
  t.equal(sent().length, 1_000)
})

t.test('SpanExporter continues when the collector is available again', async (t) => {
  const { exporter, counts, sent } = await startExporter(t, 1)
  exporter.add(aSpan(1))
  await until(() => counts.refused === 1, 'the collector has refused the span')
  exporter.add(aSpan(2))
  await until(() => sent().some(({ spanId }) => spanId === idOf(2)), 'the next span has arrived')
  await exporter.stop()
})
