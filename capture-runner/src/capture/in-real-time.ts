import { ClockLoopError } from '../runtime/errors.ts'
import type { Captured } from './run.ts'

/**
 * Takes the screenshot. If a script of the page waits for the page's virtual clock in a loop, takes it once more in another tab that has no such clock.
 * @param take one attempt in its own context
 */
export async function inRealTimeAfterLoop<C extends Pick<Captured, 'findings'>>(take: (isRealTime: boolean) => Promise<C>): Promise<C> {
  try {
    return await take(false)
  } catch (error) {
    if (!(error instanceof ClockLoopError)) throw error
  }
  const captured = await take(true)
  captured.findings.warnings.push('a script of the page did not end in time, so the page was loaded a second time')
  return captured
}
