import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { type Span, SpanExporter } from '../../../crds/client/span-exporter.ts'
import { eventually } from '../../support/eventually.ts'

// A minimal collector: it stores the OTLP JSON that is posted to it.

interface Export {
  resourceSpans: { resource: { attributes: object[] }; scopeSpans: { spans: Record<string, unknown>[] }[] }[]
}
const received: { path: string | undefined; key: string | undefined; body: Export }[] = []
let status = 200
const collector = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    if (status === 200)
      received.push({ path: request.url, key: request.headers['x-key'] as string, body: JSON.parse(String(Buffer.concat(chunks))) })
    response.writeHead(status).end('{}')
  })
})
await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
t.teardown(() => collector.close())
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`
const log = { debug() {}, info() {}, warn() {}, error() {} }
const start = () =>
  new SpanExporter({ endpoint, headers: { 'x-key': 'k' }, resource: { 'service.name': 'test' }, log, intervalMilliseconds: 10 })
const span = (number: number): Span => ({
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: number.toString(16).padStart(16, '0'),
  name: 'capture',
  kind: 'internal',
  startMilliseconds: 1_763_726_400_000.25,
  endMilliseconds: 1_763_726_400_500,
  attributes: { pod: 'default-1', attempt: 1, part: 0.5, cached: false, absent: undefined },
  error: 'DNS_FAILED',
})
const spansSent = () =>
  received.flatMap(({ body }) => body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)))

t.test('SpanExporter sends spans as OTLP JSON, with the collector’s headers', async (t) => {
  const exporter = start()
  exporter.add(span(1))
  await eventually('the spans have arrived', async () => received.length > 0)
  await exporter.stop()
  t.match(received[0], { path: '/v1/traces', key: 'k' })
  t.strictSame(received[0]?.body.resourceSpans[0]?.resource.attributes, [{ key: 'service.name', value: { stringValue: 'test' } }])
  t.strictSame(spansSent()[0], {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: '0000000000000001',
    name: 'capture',
    kind: 1,
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
  received.length = 0
  const exporter = start()
  for (let number = 1; number <= 1_000; number++) exporter.add(span(number))
  await exporter.stop()
  t.equal(spansSent().length, 1_000)
})

t.test('SpanExporter continues when the collector is available again', async (t) => {
  received.length = 0
  status = 503
  const exporter = start()
  exporter.add(span(1))
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(received.length, 0)
  status = 200
  exporter.add(span(2))
  await eventually('the span has arrived', async () => spansSent().some(({ spanId }) => spanId === '0000000000000002'))
  await exporter.stop()
})
