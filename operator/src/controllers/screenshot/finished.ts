/**
 * What happens when a Screenshot finishes: metrics, log line, spans, an entry of the picture cache, and the capture time of its pool. The
 * status is complete by then, so nothing is written to the Kubernetes API.
 */

import type { Span } from '@tintype/crds/client/span-exporter'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { poolOf } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import { isRestored } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { spanIds, traceOf } from '@tintype/crds/runtime/trace-context'
import type { ScreenshotContext } from './context.ts'

/** Records the end of a Screenshot. Call it once for each. */
export function noteFinished(
  shot: Screenshot,
  { captureTimes, dispatcher, poolOf, cache, metrics, reflectors, spans, log }: ScreenshotContext,
): void {
  // Nothing was captured.
  if (isRestored(shot)) return
  metrics.onFinished(shot)
  void cache.keep(shot)
  const taken = captureMillisecondsOf(shot)
  if (taken >= 0 && !isReused(shot)) captureTimes.note(poolOf(shot), taken)
  // The account may have been at its limit in other pools too.
  if (reflectors.pools.lister.size > 1) dispatcher.wakeAll()
  if (spans) for (const span of toSpans(shot)) spans.add(span)
  log.info(toLogLine(shot), 'screenshot finished')
}

/** Prefers the runner's own measurement: the start and end times come from different clocks. */
function captureMillisecondsOf({ status }: Screenshot): number {
  const { startTime = '', completionTime = '', result } = status ?? {}
  return result?.processingMilliseconds ?? Date.parse(completionTime) - Date.parse(startTime)
}

/** Fields of the log line of a finished capture. They contain nothing about the page. */
export function toLogLine(shot: Screenshot): Record<string, string | number | undefined> {
  const { metadata, status = {} } = shot
  const { startTime = '', completionTime = '', result, runner, attempt, phase } = status
  const created = createdAtOf(screenshotIdOf(metadata)).getTime()
  return {
    key: `${metadata.namespace}/${metadata.name}`,
    uid: metadata.uid,
    accountId: accountOf(shot),
    phase,
    attempt,
    runnerPod: runner?.pod,
    code: result?.error?.code,
    format: result?.format,
    fileSizeBytes: result?.fileSizeBytes,
    waitMilliseconds: millisecondsOrNothing(Date.parse(startTime) - created),
    durationMilliseconds: millisecondsOrNothing(Date.parse(completionTime) - Date.parse(startTime)),
    traceId: traceOf(shot)?.traceId,
  }
}

const millisecondsOrNothing = (milliseconds: number): number | undefined => (Number.isNaN(milliseconds) ? undefined : milliseconds)

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
      'tintype.pool': poolOf(spec),
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
