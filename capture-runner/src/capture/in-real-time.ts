import { FrameHungError } from '../runtime/errors.ts'
import type { Captured } from './run.ts'

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
