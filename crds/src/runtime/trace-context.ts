import { createHash } from 'node:crypto'
import { Annotation } from '../identifiers/names.ts'

// Propagates the trace of a request (W3C Trace Context). The gateway stores it on the object, and the operator sends it with the capture order
// and with each webhook. Span ids are derived from their subjects, so that a child can name its parent span without storing its id.

/** The parts of a `traceparent`. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits: the parent span. */
  spanId: string
  /** True if the caller records this trace. */
  isSampled: boolean
}

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/
const SPAN_BYTES = 8
const SAMPLED = 1

/** Reads a header or an annotation; undefined if it is malformed. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  const [, traceId, spanId, flags] = (typeof text === 'string' && TRACEPARENT.exec(text)) || []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED }
}

/** Formats a `traceparent` header. */
export const toTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string => `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

/** The trace of the request that created an object, if any. */
export const traceOf = ({ metadata }: { metadata: { annotations?: Record<string, string> | undefined } }): TraceContext | undefined =>
  parseTraceparent(metadata.annotations?.[Annotation.traceparent])

/** Derives a span id from `parts`, such as a uid, `capture` and an attempt. */
export const toSpanId = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, SPAN_BYTES).toString('hex')

/** The spans of one Screenshot. */
export const spanIds = {
  screenshot: (uid: string): string => toSpanId(uid, 'screenshot'),
  capture: (uid: string, attempt: number): string => toSpanId(uid, 'capture', attempt),
  delivery: (deliveryId: string, attempt: number): string => toSpanId(deliveryId, attempt),
}
