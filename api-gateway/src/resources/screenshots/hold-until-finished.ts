import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import type { FastifyReply } from 'fastify'
import type { ScreenshotsDeps } from './deps.ts'

/** Holds a request until the capture finishes, the time is up, the client disconnects or the process shuts down. Returns the latest state. */
export async function holdUntilFinished(
  screenshot: Screenshot,
  seconds: number,
  reply: FastifyReply,
  { screenshots, draining }: Pick<ScreenshotsDeps, 'screenshots' | 'draining'>,
): Promise<Screenshot | undefined> {
  const ending = new AbortController()
  const end = (): void => ending.abort()
  reply.raw.once('close', end)
  draining.addEventListener('abort', end, { once: true })
  if (draining.aborted) end()
  try {
    return await screenshots.waitUntilFinished(screenshot, seconds * 1_000, ending.signal)
  } finally {
    reply.raw.off('close', end)
    draining.removeEventListener('abort', end)
  }
}
