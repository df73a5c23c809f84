import type { CapturePlan } from '../plan/plan.ts'
import { CaptureError } from '../runtime/errors.ts'
import { pause } from '../runtime/race.ts'
import type { Captured } from './run.ts'

/** Failures that may pass: a connection that broke, a proxy that hiccupped. A name that is not there, or a page that is too slow, stays so. */
const PASSING = new Set(['NAVIGATION_FAILED', 'PROXY_FAILED'])
/** Milliseconds that must be left for another attempt to be worth it. */
const WORTHWHILE_MILLISECONDS = 5_000

/** Takes the picture, in further attempts if need be, each in a context of its own. @throws what the last one failed with */
export async function repeatedly(
  { retries, retryDelayMilliseconds }: Pick<CapturePlan, 'retries' | 'retryDelayMilliseconds'>,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
  take: () => Promise<Captured>,
): Promise<Captured> {
  for (let attempt = 1; ; attempt++) {
    try {
      const captured = await take()
      if (attempt > 1) captured.findings.warnings.push(`it took ${attempt} attempts`)
      return captured
    } catch (error) {
      const left = deadline - Date.now() - retryDelayMilliseconds
      if (attempt > retries || left < WORTHWHILE_MILLISECONDS || !isPassing(error)) throw error
      await pause(retryDelayMilliseconds, signal)
    }
  }
}

const isPassing = (error: unknown): boolean => error instanceof CaptureError && PASSING.has(error.code)
