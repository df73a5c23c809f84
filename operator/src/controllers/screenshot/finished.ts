/**
 * What happens when a Screenshot finishes: metrics, log line, spans, an entry of the picture cache, and the capture time of its pool. The
 * status is complete by then, so nothing is written to the Kubernetes API.
 */

import type { Span } from '@tintype/crds/client/span-exporter'
import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import { poolOf } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { isReused } from '@tintype/crds/records/cache'
import type { ReportIgnored } from '@tintype/crds/records/ignored-objects'
import { digestOf, hasOwnName, isRestored, readNamedRecord } from '@tintype/crds/records/named-record'
import { accountOf } from '@tintype/crds/records/record'
import { namedRecordKey } from '@tintype/crds/records/storage-keys'
import { spanIds, traceOf } from '@tintype/crds/runtime/trace-context'
import { findArchived } from '@tintype/crds/storage/archive'
import { readParsed } from '@tintype/crds/storage/stored-objects'
import { LRUCache } from 'lru-cache'
import { type Finder, withWhole } from '../../kube/read-object.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ScreenshotContext } from './controller.ts'
import { isNew } from './status.ts'

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

// Screenshots that are applied again after their record was archived, as GitOps does. They take the result of the record: nothing is captured
// and nothing is charged.

interface RestorerDeps {
  clients: { screenshots: Finder<Screenshot> }
  storage: Pick<Storage, 'readText' | 'exists'>
  report: ReportIgnored
  now: () => Date
}

const MAX_REMEMBERED = 10_000

export class Restorer {
  readonly #deps: RestorerDeps
  /** Uids of Screenshots without such a record. */
  readonly #without = new LRUCache<string, true>({ max: MAX_REMEMBERED })

  constructor(deps: RestorerDeps) {
    this.#deps = deps
  }

  /** Finds the completed record whose result a new Screenshot takes: same account, name and spec. @throws RetryableError, KubeError */
  async find(shot: Screenshot): Promise<Screenshot | undefined> {
    if (!isNew(shot) || !hasOwnName(shot) || this.#without.has(shot.metadata.uid)) return undefined
    const record = await this.#read(shot)
    if (!record) this.forbid(shot)
    return record
  }

  /** Makes the Screenshot be captured. */
  forbid({ metadata }: Screenshot): void {
    this.#without.set(metadata.uid, true)
  }

  async #read(shot: Screenshot): Promise<Screenshot | undefined> {
    const account = accountOf(shot)
    const key = namedRecordKey(account, shot.metadata.name)
    const named = await readParsed('name', key, (text) => readNamedRecord(text, this.#deps.now()), this.#deps)
    const digest = named && (await withWhole(shot, this.#deps.clients.screenshots, async (whole) => digestOf(whole)))
    if (!named || named.digest !== digest) return undefined
    const record = await findArchived(account, named.id, this.#deps)
    const isUsable = record?.metadata.name === shot.metadata.name && record.status?.phase === 'Completed'
    return isUsable ? record : undefined
  }
}
