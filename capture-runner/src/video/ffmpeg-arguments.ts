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
