import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { abortable } from '../runtime/race.ts'
import { diskFull, Ffmpeg, type FfmpegCommand, tooLarge } from './ffmpeg.ts'

/** Where and how to encode. */
interface EncoderSettings {
  command: FfmpegCommand
  /** Exists, is empty, and is removed by the caller. */
  directory: string
  /** Limit of the file, in bytes. */
  maxBytes: number
}

/** A file on disk. */
interface EncodedFile {
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

// The arguments of ffmpeg. Pure functions.

/** What to encode. */
export interface Encoding {
  format: 'mp4' | 'webm' | 'gif'
  fps: number
  /** 0 to 100. */
  quality: number
  /** Size of each JPEG, in pixels. */
  source: { width: number; height: number }
  /** Size of the file, in pixels; even numbers except for a gif. */
  size: { width: number; height: number }
}

const COMMON = ['-hide_banner', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'file,pipe']
/** Threads of a codec. Each one needs memory, and the browser needs the other cores. */
const THREADS = ['-threads', '2']
/** Seconds between two key frames, to which players jump. */
const KEY_SECONDS = 2

/** JPEGs from a pipe or from a file that holds one after another. */
const input = (fps: number, file: string): string[] => [
  '-f',
  'image2pipe',
  '-probesize',
  '32',
  '-fpsprobesize',
  '0',
  '-c:v',
  'mjpeg',
  '-framerate',
  String(fps),
  '-i',
  file,
]

const PIPE = 'pipe:0'

/** A linear scale from quality 0 to 100 to a codec's constant rate factor. */
const rateFactor = (quality: number, worst: number, best: number): string => String(Math.round(worst + ((best - worst) * quality) / 100))

/** Arguments of a program that reads JPEGs from its stdin and writes an mp4 or a webm to `file`. */
export function movieArguments({ format, fps, quality, ...sizes }: Encoding, file: string): string[] {
  const codec =
    format === 'mp4'
      ? ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', rateFactor(quality, 42, 14), '-movflags', '+faststart']
      : ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-row-mt', '1', '-b:v', '0', '-crf', rateFactor(quality, 56, 18)]
  return [
    ...COMMON,
    ...input(fps, PIPE),
    ...['-an', '-vf', [...scale(sizes), 'format=yuv420p', TAGS].join(',')],
    ...codec,
    ...THREADS,
    ...['-g', String(fps * KEY_SECONDS)],
    ...['-map_metadata', '-1', '-fflags', '+bitexact', '-f', format, '-y', file],
  ]
}

/** Arguments of the first pass for a gif: reads the JPEGs in `frames` and writes the colors of all to `palette`. */
export const paletteArguments = ({ fps, quality, ...sizes }: Encoding, frames: string, palette: string): string[] => [
  ...COMMON,
  ...input(fps, frames),
  ...['-vf', [...resize(sizes), `palettegen=max_colors=${colorsOf(quality)}:stats_mode=full`].join(',')],
  ...['-f', 'image2', '-update', '1', '-y', palette],
]

/** Arguments of the second pass for a gif, which repeats without end. */
export const gifArguments = ({ fps, ...sizes }: Encoding, frames: string, palette: string, file: string): string[] => [
  ...COMMON,
  ...input(fps, frames),
  ...['-i', palette],
  ...['-filter_complex', `${[...resize(sizes), 'null'].join(',')}[picture];[picture][1:v]paletteuse=dither=bayer:bayer_scale=4`],
  ...['-loop', '0', '-map_metadata', '-1', '-fflags', '+bitexact', '-f', 'gif', '-y', file],
]

/** A gif has at most 256 colors. From the default quality on, it uses all of them. */
const colorsOf = (quality: number): number => Math.min(256, 16 + Math.round(240 * (quality / 70)))

type Sizes = Pick<Encoding, 'source' | 'size'>

/** JPEGs of a browser have the full range and the matrix of BT.601; players expect BT.709 and the range of television. */
const COLORS = 'in_color_matrix=bt601:in_range=pc:out_color_matrix=bt709:out_range=tv'
/** Without these flags, white is not quite white. */
const ROUNDING = 'accurate_rnd+full_chroma_int'

/** Names the colors in the file. As options of the encoder, ffmpeg 7 replaces them by those of the JPEGs; players then guess by the size. */
const TAGS = 'setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709'

/** Filters to the size and the colors of a movie. */
function scale({ source, size }: Sizes): string[] {
  const [right, bottom] = [size.width - source.width, size.height - source.height]
  // One more pixel makes a side even without a blurred picture. It repeats the last one, which needs colors for each pixel.
  if (isOneMore(right) && isOneMore(bottom)) {
    const padding = `format=yuv444p,pad=${size.width}:${size.height}:0:0,fillborders=right=${right}:bottom=${bottom}:mode=smear`
    return [`scale=flags=bicubic+${ROUNDING}:${COLORS}`, ...(right + bottom > 0 ? [padding] : [])]
  }
  return [`scale=${size.width}:${size.height}:flags=${filterOf({ source, size })}+${ROUNDING}:${COLORS}`]
}

const resize = ({ source, size }: Sizes): string[] =>
  source.width === size.width && source.height === size.height
    ? []
    : [`scale=${size.width}:${size.height}:flags=${filterOf({ source, size })}`]

const isOneMore = (pixels: number): boolean => pixels === 0 || pixels === 1

const filterOf = ({ source, size }: Sizes): string => (size.width < source.width ? 'area' : 'bicubic')
