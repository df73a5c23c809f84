import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { abortable } from '../runtime/race.ts'
import { diskFull, Ffmpeg, type FfmpegCommand, tooLarge } from './ffmpeg.ts'
import { type Encoding, gifArguments, movieArguments, paletteArguments } from './ffmpeg-arguments.ts'

/** Where and how to encode. */
export interface EncoderSettings {
  command: FfmpegCommand
  /** Exists, is empty, and is removed by the caller. */
  directory: string
  /** Limit of the file, in bytes. */
  maxBytes: number
}

/** A file on disk. */
export interface EncodedFile {
  path: string
  bytes: number
}

/** Turns JPEGs into a video. */
export interface Encoder {
  /** Adds a frame. Waits while the encoder is behind. @throws CaptureError; the signal's reason */
  add: (jpeg: Buffer, signal: AbortSignal) => Promise<void>
  /** @throws CaptureError TOO_LARGE, INTERNAL_ERROR; the signal's reason */
  finish: (signal: AbortSignal) => Promise<EncodedFile>
  /** Kills the processes. May be called again. */
  dispose: () => void
}

/** Processor seconds that a frame of two megapixels may cost in a codec, usually 0.05, and seconds for any video. */
const CPU_SECONDS_PER_FRAME = 1
const CPU_SECONDS = 60
/** Frames of a gif before they are encoded. Only pages like noise reach this. */
const MAX_SPOOL_BYTES = 512 * 1024 ** 2

const cpuSeconds = (frames: number): number => CPU_SECONDS + Math.ceil(frames * CPU_SECONDS_PER_FRAME)

/** Starts an encoder. @param frames number of frames to expect */
export function createEncoder(encoding: Encoding, frames: number, settings: EncoderSettings): Encoder {
  return encoding.format === 'gif' ? new GifEncoder(encoding, frames, settings) : new MovieEncoder(encoding, frames, settings)
}

/** The encoder reads the frames as they come. */
class MovieEncoder implements Encoder {
  readonly #ffmpeg: Ffmpeg
  readonly #file: string
  readonly #maxBytes: number

  constructor(encoding: Encoding, frames: number, { command, directory, maxBytes }: EncoderSettings) {
    this.#file = path.join(directory, `video.${encoding.format}`)
    this.#maxBytes = maxBytes
    const limits = { fileBytes: maxBytes, cpuSeconds: cpuSeconds(frames) }
    this.#ffmpeg = new Ffmpeg(command, movieArguments(encoding, this.#file), directory, limits)
  }

  add(jpeg: Buffer, signal: AbortSignal): Promise<void> {
    return this.#ffmpeg.write(jpeg, signal)
  }

  async finish(signal: AbortSignal): Promise<EncodedFile> {
    await this.#ffmpeg.end(signal)
    return measure(this.#file, this.#maxBytes)
  }

  dispose(): void {
    this.#ffmpeg.kill()
  }
}

/** A gif needs two passes: the first finds the colors. So the frames wait in a file, because all of them in memory would be gigabytes. */
class GifEncoder implements Encoder {
  readonly #encoding: Encoding
  readonly #settings: EncoderSettings
  readonly #frames: number
  readonly #spool: WriteStream
  readonly #spoolFile: string
  #spooled = 0
  #failure: Error | undefined
  #running: Ffmpeg | undefined

  constructor(encoding: Encoding, frames: number, settings: EncoderSettings) {
    this.#encoding = encoding
    this.#settings = settings
    this.#frames = frames
    this.#spoolFile = path.join(settings.directory, 'frames.mjpeg')
    this.#spool = createWriteStream(this.#spoolFile)
    this.#spool.on('error', (error) => {
      this.#failure = error
    })
  }

  async add(jpeg: Buffer, signal: AbortSignal): Promise<void> {
    this.#spooled += jpeg.length
    if (this.#spooled > MAX_SPOOL_BYTES) throw tooLarge(MAX_SPOOL_BYTES)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#spool.write(jpeg, (error) => {
      if (error) this.#failure = error
      resolve()
    })
    await abortable(promise, signal)
    this.#assertWritten()
  }

  async finish(signal: AbortSignal): Promise<EncodedFile> {
    const { directory, maxBytes } = this.#settings
    this.#spool.end()
    if (!this.#failure) await once(this.#spool, 'close', { signal })
    this.#assertWritten()
    const [palette, file] = ['palette.png', 'video.gif'].map((name) => path.join(directory, name)) as [string, string]
    await this.#pass(paletteArguments(this.#encoding, this.#spoolFile, palette), signal)
    await this.#pass(gifArguments(this.#encoding, this.#spoolFile, palette, file), signal)
    return measure(file, maxBytes)
  }

  dispose(): void {
    this.#spool.destroy()
    this.#running?.kill()
  }

  async #pass(args: readonly string[], signal: AbortSignal): Promise<void> {
    const { command, directory, maxBytes } = this.#settings
    this.#running = new Ffmpeg(command, args, directory, { fileBytes: maxBytes, cpuSeconds: cpuSeconds(this.#frames) })
    await this.#running.end(signal)
  }

  #assertWritten(): void {
    if (this.#failure) throw diskFull(this.#failure)
  }
}

async function measure(file: string, maxBytes: number): Promise<EncodedFile> {
  const { size } = await stat(file)
  if (size > maxBytes) throw tooLarge(maxBytes)
  return { path: file, bytes: size }
}
