import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const MAX_BYTES = 1024 * 1024 * 1024

/** What ffprobe reads in a video, with every frame decoded. */
export async function probeMovie(file: string) {
  const entries = 'stream=codec_name,width,height,nb_read_frames,avg_frame_rate,pix_fmt,color_space,color_range:format=duration'
  const { stdout } = await execute('ffprobe', ['-v', 'error', '-count_frames', '-show_entries', entries, '-of', 'json', file])
  const { streams, format } = JSON.parse(stdout)
  const [stream] = streams
  return {
    codec: String(stream.codec_name),
    width: Number(stream.width),
    height: Number(stream.height),
    frames: Number(stream.nb_read_frames),
    /** `30/1`. */
    rate: String(stream.avg_frame_rate),
    seconds: Number(format.duration),
    pixelFormat: String(stream.pix_fmt),
    colors: `${stream.color_space ?? ''}/${stream.color_range ?? ''}`,
  }
}

/** The decoded frames of a video. */
type Frames = Awaited<ReturnType<typeof decodeMovie>>

/** Decodes every stored frame, and repeats or drops none. */
export async function decodeMovie(file: string) {
  const { width, height } = await probeMovie(file)
  const args = ['-v', 'error', '-i', file, '-fps_mode', 'passthrough', '-f', 'rawvideo', '-pix_fmt', 'gray', '-']
  const { stdout } = await execute('ffmpeg', args, { encoding: 'buffer', maxBuffer: MAX_BYTES })
  const size = width * height
  return {
    width,
    height,
    count: stdout.length / size,
    /** Brightness of a pixel, 0 to 255. */
    brightness: (frame: number, x: number, y: number) => stdout[frame * size + y * width + x] ?? Number.NaN,
  }
}

/** The color of a pixel of one frame, `[red, green, blue]`. */
export async function colorAt(file: string, frame: number, x: number, y: number): Promise<number[]> {
  const filter = `select=eq(n\\,${frame}),crop=2:2:${x}:${y}`
  const args = ['-v', 'error', '-i', file, '-vf', filter, '-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']
  const { stdout } = await execute('ffmpeg', args, { encoding: 'buffer' })
  return [...stdout.subarray(0, 3)]
}

const DARK = 100

/** Position of the first dark pixel of each frame, in a row from left to right; -1 if there is none. */
export const darkColumns = ({ count, width, brightness }: Frames, y: number): number[] =>
  Array.from({ length: count }, (_, frame) => {
    for (let x = 0; x < width; x++) if (brightness(frame, x, y) < DARK) return x
    return -1
  })

/** Height of one step of {@link RULER}, in pixels. */
const STEP = 100
const BITS = 8
/** Width of each mark. */
const MARK = 12

/**
 * A script that fills a tall page with marks, from which {@link scrollPositions} reads how far it is scrolled: a line at the left for each 100 pixels,
 * and its number in binary marks beside it.
 */
export const RULER = `for (let line = 0; line * ${STEP} < document.documentElement.scrollHeight; line++) {
  for (let bit = -1; bit < ${BITS}; bit++) {
    if (bit >= 0 && !(line >> bit & 1)) continue
    const mark = document.createElement('i')
    mark.style.cssText = 'position:absolute;width:${MARK}px;height:8px;background:#000;left:' + (bit + 1) * ${MARK} + 'px;top:' + line * ${STEP} + 'px'
    document.body.append(mark)
  }
}`

/** Scroll position of each frame, in pixels. */
export const scrollPositions = (frames: Frames): number[] =>
  Array.from({ length: frames.count }, (_, frame) => {
    const isDark = (x: number, y: number): boolean => frames.brightness(frame, x, y) < DARK
    // A mark at the top edge may be cut off.
    const row = Array.from({ length: frames.height }, (_, y) => y).find((y) => y > 8 && isDark(5, y) && !isDark(5, y - 1)) ?? Number.NaN
    const bits = Array.from({ length: BITS }, (_, bit) => (isDark((bit + 1) * MARK + 5, row + 4) ? 1 << bit : 0))
    return bits.reduce((sum, bit) => sum + bit, 0) * STEP - row
  })
