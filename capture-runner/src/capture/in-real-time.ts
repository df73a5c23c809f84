import { ClockLoopError, FrameHungError } from '../runtime/errors.ts'
import type { Captured } from './run.ts'

/**
 * Takes the screenshot. If a script of the page waits for the page's virtual clock in a loop, takes it once more in another tab that has no such clock.
 * @param take one attempt in its own context
 */
export async function inRealTimeAfterLoop<C extends Pick<Captured, 'findings'>>(take: (isRealTime: boolean) => Promise<C>): Promise<C> {
  try {
    return await take(false)
  } catch (error) {
    const why = reasonOf(error)
    if (why === undefined) throw error
    const captured = await take(true)
    captured.findings.warnings.push(`${why}, so the page was loaded a second time`)
    return captured
  }
}

function reasonOf(error: unknown): string | undefined {
  if (error instanceof ClockLoopError) return 'a script of the page did not end in time'
  return error instanceof FrameHungError ? 'the browser stopped drawing' : undefined
}
