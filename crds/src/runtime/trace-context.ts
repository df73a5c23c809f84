import { createHash } from 'node:crypto'
import { Annotation } from '../identifiers/names.ts'

// A request's trace follows it: the gateway notes it on the object, the operator sends it with the order and with each webhook (W3C Trace
// Context). Ids of spans are functions of what they are about, so that a parent need not have been written down for a child to name it.

/** What `traceparent` says. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits: of the span under which the next is. */
  spanId: string
  /** Somebody keeps this trace: it is worth a span. */
  isSampled: boolean
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/
const SPAN_BYTES = 8
const SAMPLED = 1

/** Reads a header or an annotation; what is not well-formed is no trace. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  const [, traceId, spanId, flags] = (typeof text === 'string' && TRACEPARENT.exec(text)) || []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED }
}

/** The header that says it. */
export const toTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string => `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

/** The trace of the request that made an object; absent when it had none. */
export const traceOf = ({ metadata }: { metadata: { annotations?: Record<string, string> | undefined } }): TraceContext | undefined =>
  parseTraceparent(metadata.annotations?.[Annotation.traceparent])

/** Id of the span that is about `parts`, such as a uid and `capture` and an attempt. */
export const toSpanId = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, SPAN_BYTES).toString('hex')

/** The spans of one Screenshot. */
export const spanIds = {
  screenshot: (uid: string): string => toSpanId(uid, 'screenshot'),
  capture: (uid: string, attempt: number): string => toSpanId(uid, 'capture', attempt),
  delivery: (deliveryId: string, attempt: number): string => toSpanId(deliveryId, attempt),
}
