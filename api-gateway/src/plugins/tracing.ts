import { randomBytes } from 'node:crypto'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import { parseTraceparent, type TraceContext, toTraceparent } from '@tintype/crds/runtime/trace-context'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { clientAddressOf } from './client-address.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Parent span for everything that this request causes. Absent when the request is not traced. */
    trace: TraceContext | undefined
  }
}

/** Without `spans` nothing is recorded, but a trace of the client is still propagated. */
export interface TracingDeps {
  spans?: Pick<SpanExporter, 'add'> | undefined
  /** Fraction of requests without a trace that start one, 0 to 1. */
  traceRatio?: number
}

const TRACE_BYTES = 16
const SPAN_BYTES = 8
const newId = (bytes: number): string => randomBytes(bytes).toString('hex')

/** Assigns each request to a trace and records it as a span, named after its route pattern. */
export function addTracing(app: FastifyInstance, { spans, traceRatio = 1 }: TracingDeps): void {
  const parents = new WeakMap<FastifyRequest, { parentSpanId: string | undefined; startMilliseconds: number }>()
  app.decorateRequest('trace', undefined)
  app.addHook('onRequest', async (request) => {
    const given = parseTraceparent(request.headers.traceparent)
    request.trace = given
    const isRecorded = spans !== undefined && (given?.isSampled ?? Math.random() < traceRatio)
    if (!isRecorded) return
    request.trace = { traceId: given?.traceId ?? newId(TRACE_BYTES), spanId: newId(SPAN_BYTES), isSampled: true }
    parents.set(request, { parentSpanId: given?.spanId, startMilliseconds: Date.now() })
  })
  app.addHook('onResponse', async (request, reply) => {
    const begun = parents.get(request)
    if (!begun || !request.trace) return
    const route = request.routeOptions.url ?? 'none'
    const address = clientAddressOf(request)
    spans?.add({
      ...begun,
      traceId: request.trace.traceId,
      spanId: request.trace.spanId,
      name: `${request.method} ${route}`,
      kind: 'server',
      endMilliseconds: begun.startMilliseconds + reply.elapsedTime,
      attributes: {
        'http.request.method': request.method,
        'http.route': route,
        'http.response.status_code': reply.statusCode,
        'tintype.request': request.id,
        ...(address === undefined ? {} : { 'client.address': address }),
      },
      error: reply.statusCode >= 500 ? `HTTP ${reply.statusCode}` : undefined,
    })
  })
}

/** The traceparent for objects that a request creates. */
export const traceparentOf = ({ trace }: Pick<FastifyRequest, 'trace'>): string | undefined => trace && toTraceparent(trace)
