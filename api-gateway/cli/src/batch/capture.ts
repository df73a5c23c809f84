import { createWriteStream, rmSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Screenshot, ScreenshotRequest, Tintype } from '../../../client/src/index.ts'
import { CliError } from '../common/errors.ts'
import { capturesIn } from '../common/kinds.ts'

/** True if a path exists and is not an ordinary file: /dev/null, a pipe. Replacing it would be wrong. */
function isSpecial(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  return found !== undefined && !found.isFile()
}

/** Writes a stream to a file. An interrupted download leaves no part of a file under its name. */
export async function writeFileFrom(stream: ReadableStream<Uint8Array>, file: string, signal: AbortSignal): Promise<void> {
  const target = isSpecial(file) ? file : `${file}.part`
  try {
    await pipeline(Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]), createWriteStream(target), { signal })
    if (target !== file) await rename(target, file)
  } catch (error) {
    if (target !== file) rmSync(target, { force: true })
    if (signal.aborted) throw signal.reason
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new CliError(`cannot write ${file}: ${message}. Check that the folder exists and that you may write to it.`)
  }
}

export interface CaptureWork {
  client: Tintype
  request: ScreenshotRequest
  idempotencyKey?: string | undefined
  /** Milliseconds. */
  waitTimeout?: number | undefined
  signal: AbortSignal
  /** Receives the id as soon as the service has created the screenshot. */
  onCreated?: (id: string) => void
}

/** Creates a screenshot or a video and waits for its end. Resolves to the record, also if the capture failed. */
export async function captureRecord(work: CaptureWork): Promise<Screenshot> {
  const { client, request, idempotencyKey, waitTimeout, signal, onCreated } = work
  const captures = capturesIn(client, request.format)
  const { id } = await captures.create({ ...request, idempotencyKey, signal })
  onCreated?.(id)
  return captures.wait(id, { waitTimeout, signal })
}
