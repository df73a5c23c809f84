import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { retry } from '@tintype/crds/runtime/retry'
import { CaptureError, FrameHungError } from '../runtime/errors.ts'
import { pause } from '../runtime/race.ts'
import type { Captured } from './run.ts'

/** Errors that may be temporary: a broken connection, a proxy failure. An unknown name or a slow page would fail again. */
const TRANSIENT = new Set(['NAVIGATION_FAILED', 'PROXY_FAILED'])
/** Minimum time left for another attempt. */
const WORTHWHILE_MILLISECONDS = 5_000

/** Takes the screenshot, with retries if needed, each in its own context. @throws the last attempt's error */
export async function repeatedly(
  { retries, retryDelay }: Pick<EffectiveOptions, 'retries' | 'retryDelay'>,
  { deadline, signal }: { deadline: number; signal: AbortSignal },
  take: () => Promise<Captured>,
): Promise<Captured> {
  const work = async (attempt: number): Promise<Captured> => {
    const captured = await take()
    if (attempt > 1) captured.findings.warnings.push(`the capture succeeded at retry ${attempt - 1} of ${retries}`)
    return captured
  }
  const delayOf = (error: unknown, attempt: number): number | undefined => {
    const left = deadline - Date.now() - retryDelay
    return attempt > retries || left < WORTHWHILE_MILLISECONDS || !isTransient(error) ? undefined : retryDelay
  }
  return retry(work, { delayOf, wait: (milliseconds) => pause(milliseconds, signal) })
}

const isTransient = (error: unknown): boolean => error instanceof CaptureError && TRANSIENT.has(error.code)

/**
 * Takes the screenshot. If a frame of the browser never ends, takes it once more in another browser, in a tab that draws by itself and has no virtual
 * clock.
 * @param take one attempt in its own context
 */
export async function inRealTimeAfterHang<C extends Pick<Captured, 'findings'>>(take: (isRealTime: boolean) => Promise<C>): Promise<C> {
  try {
    return await take(false)
  } catch (error) {
    if (!(error instanceof FrameHungError)) throw error
  }
  const captured = await take(true)
  captured.findings.warnings.push('the browser stopped drawing, so the page was loaded a second time')
  return captured
}
