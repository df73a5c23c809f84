import { isTransient, KubeError } from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { type JsonPatchOperation, jsonPatch, type Patch } from '@tintype/crds/client/resource'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { API_VERSION } from '@tintype/crds/identifiers/names'
import { doubled, retry } from '@tintype/crds/runtime/retry'
import type { Logger } from 'pino'
import type { Outcome } from '../capture/outcome.ts'
import { pause } from '../runtime/race.ts'

// The runner's only write to the API server: one JSON patch of the status. Its tests fail unless this pod still holds the claim of this attempt.
// rbac: tintype.dev/screenshots/status patch
// (the admission policy restricts this further)

/** How long to retry while the API server is unavailable. */
const REPEAT_MILLISECONDS = 10 * 60_000
const TRY_MILLISECONDS = 10_000
const FIRST_DELAY_MILLISECONDS = 100
const MAX_DELAY_MILLISECONDS = 5_000

/** The claim under which a report is sent. */
export type Claim = Pick<CaptureOrder, 'namespace' | 'name' | 'attempt'> & { podUid: string }

/** Builds the patch with its preconditions. Times and conditions come from the outcome. */
export function buildReport({ podUid, attempt }: Claim, { phase, result, conditions }: Outcome, now: Date): Patch {
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/status/phase', value: phase },
    { op: 'add', path: '/status/result', value: result },
    { op: 'add', path: '/status/conditions', value: conditions },
    { op: 'add', path: '/status/completionTime', value: now.toISOString() },
  ]
  return jsonPatch(operations, { '/status/runner/uid': podUid, '/status/attempt': attempt, '/status/phase': 'Running' })
}

/** Result of a report. `dropped`: the claim is lost, the object is gone, or the API server was unavailable for too long. */
export type Reported = 'written' | 'dropped'

/** Sends reports. */
export interface Reporter {
  report: (claim: Claim, outcome: Outcome, signal: AbortSignal) => Promise<Reported>
}

/** Creates a reporter that retries while the API server is unavailable. @throws the signal's reason */
export function createReporter({ http, log, now = () => new Date() }: { http: KubeHttp; log: Logger; now?: () => Date }): Reporter {
  return {
    report: async (claim, outcome, signal) => {
      const { contentType, body } = buildReport(claim, outcome, now())
      const path = `/apis/${API_VERSION}/namespaces/${claim.namespace}/screenshots/${claim.name}/status`
      const until = performance.now() + REPEAT_MILLISECONDS
      const write = () =>
        http.request({ method: 'PATCH', path, body, contentType, signal, timeoutMilliseconds: TRY_MILLISECONDS, repeat: 'never' })
      const delayOf = (error: unknown, attempt: number): number | undefined => {
        if (signal.aborted || !mayRepeat(error) || performance.now() > until) return undefined
        log.debug({ err: error, tries: attempt - 1 }, 'report failed; will retry')
        return doubled(FIRST_DELAY_MILLISECONDS, MAX_DELAY_MILLISECONDS, attempt)
      }
      try {
        await retry(write, { delayOf, wait: (milliseconds) => pause(milliseconds, signal) })
        return 'written'
      } catch (error) {
        signal.throwIfAborted()
        log.warn({ err: error, name: claim.name, attempt: claim.attempt }, 'report dropped')
        return 'dropped'
      }
    },
  }
}

/** A new API server responds with 401 or 403 until its own caches are filled. */
const mayRepeat = (error: unknown): boolean =>
  isTransient(error) || (error instanceof KubeError && (error.status === 401 || error.status === 403))
