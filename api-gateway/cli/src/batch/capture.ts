import { createWriteStream, rmSync, statSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import path from 'node:path'
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

interface SavedCapture {
  client: Tintype
  screenshot: Screenshot
  /** File of the picture. */
  file: string
  signal: AbortSignal
}

/** `page.png` and `html` → `page.html`; `page.png` and `thumb.png` → `page.thumb.png` */
const toArtifactFile = (file: string, extension: string): string => {
  const { dir, name } = path.parse(file)
  return path.join(dir, `${name}.${extension}`)
}

/** Writes further files of a capture, such as that of --save-html, beside its picture. */
export async function writeArtifacts({ client, screenshot, file, signal }: SavedCapture, onWritten: (file: string) => void): Promise<void> {
  const captures = capturesIn(client, screenshot.format)
  for (const { type, download_url: url } of screenshot.artifacts) {
    if (url === null) continue
    const [, extension] = /^[^.]+\.([a-z0-9.]{1,24})$/.exec(path.basename(new URL(url, 'http://localhost').pathname)) ?? []
    if (extension === undefined) continue
    const target = toArtifactFile(file, extension)
    await writeFileFrom(await captures.streamOf(screenshot, { artifact: type, signal }), target, signal)
    onWritten(target)
  }
}
