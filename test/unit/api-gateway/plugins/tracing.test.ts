import Fastify from 'fastify'
import t from 'tap'
import { addTracing, type TracingDeps, traceparentOf } from '../../../../api-gateway/src/plugins/tracing.ts'
import type { Span } from '../../../../crds/client/span-exporter.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

async function ask(deps: TracingDeps, traceparent?: string) {
  const app = Fastify()
  addTracing(app, deps)
  app.get('/v1/screenshots/:id', async (request) => ({ traceparent: traceparentOf(request) }))
  const headers = traceparent === undefined ? {} : { traceparent }
  const { traceparent: noted } = (await app.inject({ url: '/v1/screenshots/scr_1?secret', headers })).json<{ traceparent?: string }>()
  await app.close()
  return noted
}

t.test('tracing hands a client’s trace on as it came when nobody collects spans here', async (t) => {
  t.equal(await ask({}, `00-${TRACE}-${SPAN}-01`), `00-${TRACE}-${SPAN}-01`)
  t.equal(await ask({}), undefined)
  t.equal(await ask({}, 'nonsense'), undefined)
})

t.test('tracing records a request under the client’s span, by its route, and puts what follows under its own', async (t) => {
  const spans: Span[] = []
  const noted = await ask({ spans: { add: (span) => spans.push(span) } }, `00-${TRACE}-${SPAN}-01`)
  t.match(spans, [{ traceId: TRACE, parentSpanId: SPAN, name: 'GET /v1/screenshots/:id', kind: 'server', error: undefined }])
  t.equal(noted, `00-${TRACE}-${spans[0]?.spanId}-01`)
  t.notMatch(JSON.stringify(spans), /secret/)
})

t.test('tracing begins a trace for the part of requests that have none, and keeps none that the client does not', async (t) => {
  const spans: Span[] = []
  const deps = { spans: { add: (span: Span) => spans.push(span) } }
  t.match(await ask({ ...deps, traceRatio: 1 }), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
  t.equal(await ask({ ...deps, traceRatio: 0 }), undefined)
  t.equal(await ask({ ...deps, traceRatio: 1 }, `00-${TRACE}-${SPAN}-00`), `00-${TRACE}-${SPAN}-00`)
  t.equal(spans.length, 1)
})
