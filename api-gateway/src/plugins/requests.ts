import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { SpanExporter } from '@tintype/crds/client/span-exporter'
import { parseTraceparent, type TraceContext, toTraceparent } from '@tintype/crds/runtime/trace-context'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '../metrics/metrics.ts'

const CLIENT_ID = /^[A-Za-z0-9_-]{1,128}$/

/** The client's X-Request-Id if it is valid, else a new id. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && CLIENT_ID.test(given) ? given : randomUUID()
}

/** Sends X-Request-Id with every response, so that clients can quote it in reports. */
export function addRequestId(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
}

/** Measures and logs every response by route pattern. Paths and queries are left out, because a query may contain a signature. */
export function addRequestMetrics(app: FastifyInstance, { requestSeconds }: Pick<Metrics, 'requestSeconds'>): void {
  app.addHook('onResponse', async (request, reply) => {
    const labels = { method: request.method, route: request.routeOptions.url ?? 'none', code: String(reply.statusCode) }
    requestSeconds.observe(labels, reply.elapsedTime / 1_000)
    const durationMilliseconds = Math.round(reply.elapsedTime)
    const accountName = request.accountName || undefined
    request.log.debug({ ...labels, accountName, clientAddress: clientAddressOf(request), durationMilliseconds }, 'request completed')
  })
}

const MAPPED = /^::ffff:(?=\d+\.)/i

/**
 * IP address of the client, for logs and traces. Behind a trusted proxy it is the last address of X-Forwarded-For that is not a trusted proxy, and
 * otherwise the other end of the connection. Undefined after the connection was closed.
 */
export function clientAddressOf({ ip, socket }: Pick<FastifyRequest, 'ip' | 'socket'>): string | undefined {
  const address = isIP(ip) === 0 ? socket.remoteAddress : ip
  return address?.replace(MAPPED, '')
}

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
