import { isFinished, type Screenshot } from '@tintype/crds/kinds/screenshot'
import type { TakeDeps } from './deps.ts'

/** Longest time in the queue and in a runner. A capture that takes longer is not counted. */
const MAX_MILLISECONDS = 3_600_000

/** Counts a capture when it has ended. A request that started it may have been redirected or closed by then, so requests do not count captures. */
export async function countCapture(
  screenshot: Screenshot,
  { screenshots, metrics, draining }: Pick<TakeDeps, 'screenshots' | 'metrics' | 'draining'>,
): Promise<void> {
  const ended = await screenshots.waitUntilFinished(screenshot, MAX_MILLISECONDS, draining)
  if (ended && isFinished(ended)) metrics.linkCaptures.inc({ outcome: ended.status?.phase === 'Failed' ? 'failed' : 'completed' })
}
