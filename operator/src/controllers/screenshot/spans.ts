// Builds the spans of one finished Screenshot. Pure. The steps of the capture are attributes, because the runner reports their durations
// but not their start times.

import type { Span } from '@tintype/crds/client/span-exporter'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { DEFAULT_POOL } from '@tintype/crds/identifiers/names'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { spanIds, type TraceContext, traceOf } from '@tintype/crds/runtime/trace-context'

/** Spans from the creation of a Screenshot to its end; empty when its trace is not sampled. */
export function toSpans(shot: Screenshot): Span[] {
  const trace = traceOf(shot)
  if (!trace?.isSampled) return []
  const { metadata, spec, status } = shot
  const { startTime, completionTime, attempt = 0, runner, result } = status ?? {}
  const created = createdAtOf(screenshotIdOf(metadata)).getTime()
  const ended = Date.parse(completionTime ?? '')
  const error = result?.error && `${result.error.code}: ${result.error.message}`
  const shared = { traceId: trace.traceId, kind: 'internal' as const, endMilliseconds: ended, error }
  const whole: Span = {
    ...shared,
    spanId: spanIds.screenshot(metadata.uid),
    parentSpanId: trace.spanId,
    name: 'screenshot',
    startMilliseconds: created,
    attributes: {
      'tintype.screenshot': screenshotIdOf(metadata),
      'tintype.pool': spec.poolName ?? DEFAULT_POOL,
      'tintype.attempts': attempt,
      'tintype.format': result?.format,
      'tintype.file.bytes': result?.fileSizeBytes,
    },
  }
  if (startTime === undefined) return [whole]
  const timings = Object.entries(result?.timings ?? {}).map(([step, taken]) => [`tintype.step.${step}.milliseconds`, taken])
  const capture: Span = {
    ...shared,
    spanId: spanIds.capture(metadata.uid, attempt),
    parentSpanId: whole.spanId,
    name: 'capture',
    startMilliseconds: Date.parse(startTime),
    attributes: { 'k8s.pod.name': runner?.pod, 'tintype.attempt': attempt, ...Object.fromEntries(timings) },
  }
  return [whole, capture]
}

/** Trace context of an order: the runner's spans are children of this attempt's span. */
export const toOrderTrace = (shot: Screenshot): TraceContext | undefined => {
  const trace = traceOf(shot)
  return trace && { ...trace, spanId: spanIds.capture(shot.metadata.uid, shot.status?.attempt ?? 0) }
}
