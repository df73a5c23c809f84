import { createdAtOf, screenshotIdOf } from '@tintype/crds/identifiers/ids'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { accountOf } from '@tintype/crds/records/record'
import { traceOf } from '@tintype/crds/runtime/trace-context'

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
