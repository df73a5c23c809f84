import t from 'tap'
import { type Encoding, gifArguments, movieArguments, paletteArguments } from '../../../../capture-runner/src/video/ffmpeg-arguments.ts'
import { type ScrollTimes, scrollShare } from '../../../../capture-runner/src/video/scroll-position.ts'

const window = { width: 1280, height: 720 }
const encoding: Encoding = { format: 'mp4', fps: 30, quality: 70, source: window, size: window }

const argumentOf = (args: readonly string[], name: string): string | undefined => args[args.indexOf(name) + 1]

t.test('movieArguments writes an mp4 that players of all kinds show', async (t) => {
  const args = movieArguments(encoding, '/v/video.mp4')
  t.equal(argumentOf(args, '-i'), 'pipe:0')
  t.equal(argumentOf(args, '-framerate'), '30')
  t.equal(argumentOf(args, '-c:v'), 'mjpeg', 'the input')
  t.ok(args.includes('libx264'))
  t.equal(argumentOf(args, '-crf'), '22')
  t.equal(argumentOf(args, '-movflags'), '+faststart')
  t.equal(argumentOf(args, '-g'), '60')
  t.match(argumentOf(args, '-vf'), /^scale=flags=\S+out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=/)
  t.ok(argumentOf(args, '-vf')?.endsWith(',setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709'))
  t.equal(args.at(-1), '/v/video.mp4')
})

t.test('movieArguments can read nothing but files and its stdin', async (t) => {
  for (const args of [movieArguments(encoding, 'f'), paletteArguments(encoding, 's', 'p'), gifArguments(encoding, 's', 'p', 'f')]) {
    t.equal(argumentOf(args, '-protocol_whitelist'), 'file,pipe')
  }
})

t.test('movieArguments writes a webm with VP9', async (t) => {
  const args = movieArguments({ ...encoding, format: 'webm' }, 'video.webm')
  t.ok(args.includes('libvpx-vp9'))
  t.equal(argumentOf(args, '-f'), 'image2pipe')
  t.equal(args[args.lastIndexOf('-f') + 1], 'webm')
})

t.test('movieArguments encodes better with a higher quality', async (t) => {
  for (const format of ['mp4', 'webm'] as const) {
    const factors = [0, 50, 100].map((quality) => Number(argumentOf(movieArguments({ ...encoding, format, quality }, 'f'), '-crf')))
    t.strictSame(
      factors.toSorted((a, b) => b - a),
      factors,
      format,
    )
  }
})

t.test('movieArguments repeats the last row and column of an odd picture', async (t) => {
  const args = movieArguments({ ...encoding, source: { width: 333, height: 217 }, size: { width: 334, height: 218 } }, 'f')
  t.match(argumentOf(args, '-vf'), 'format=yuv444p,pad=334:218:0:0,fillborders=right=1:bottom=1:mode=smear,format=yuv420p,setparams=')
})

t.test('movieArguments scales to another size', async (t) => {
  t.match(argumentOf(movieArguments({ ...encoding, size: { width: 640, height: 360 } }, 'f'), '-vf'), /^scale=640:360:flags=area/)
  t.match(argumentOf(movieArguments({ ...encoding, size: { width: 1920, height: 1080 } }, 'f'), '-vf'), /^scale=1920:1080:flags=bicubic/)
})

t.test('gifArguments uses the colors that the first pass found, and repeats without end', async (t) => {
  const small = { ...encoding, format: 'gif' as const, fps: 15, size: { width: 640, height: 360 } }
  const first = paletteArguments(small, 'frames.mjpeg', 'palette.png')
  t.equal(argumentOf(first, '-i'), 'frames.mjpeg')
  t.match(argumentOf(first, '-vf'), 'scale=640:360:flags=area,palettegen=max_colors=256')
  t.equal(first.at(-1), 'palette.png')
  const second = gifArguments(small, 'frames.mjpeg', 'palette.png', 'video.gif')
  t.equal(argumentOf(second, '-loop'), '0')
  t.match(argumentOf(second, '-filter_complex'), 'scale=640:360:flags=area')
  t.match(argumentOf(paletteArguments({ ...small, quality: 0 }, 's', 'p'), '-vf'), 'max_colors=16')
})

const times: ScrollTimes = { pause: 500, scroll: 4_000, easing: 'linear', back: false }

t.test('scrollShare starts after the pause, and stays at the end', async (t) => {
  t.equal(scrollShare(times, 0), 0)
  t.equal(scrollShare(times, 500), 0)
  t.equal(scrollShare(times, 2_500), 0.5)
  t.equal(scrollShare(times, 4_500), 1)
  t.equal(scrollShare(times, 60_000), 1)
})

t.test('scrollShare goes back after a pause at the end, and stays at the top', async (t) => {
  const back = { ...times, scroll: 1_500, back: true }
  t.equal(scrollShare(back, 1_250), 0.5)
  t.equal(scrollShare(back, 2_000), 1)
  t.equal(scrollShare(back, 2_500), 1)
  t.equal(scrollShare(back, 3_250), 0.5)
  t.equal(scrollShare(back, 4_000), 0)
  t.equal(scrollShare(back, 60_000), 0)
})

t.test('scrollShare follows the easing curve, and never moves backward', async (t) => {
  const at = (easing: ScrollTimes['easing'], milliseconds: number) => scrollShare({ ...times, easing }, milliseconds)
  t.equal(at('ease_in', 2_500), 0.125)
  t.equal(at('ease_out', 2_500), 0.875)
  t.equal(at('ease_in_out', 2_500), 0.5)
  for (const easing of ['linear', 'ease_in', 'ease_out', 'ease_in_out'] as const) {
    const shares = Array.from({ length: 301 }, (_, frame) => at(easing, (frame * 1_000) / 60))
    const sorted = shares.toSorted((a, b) => a - b)
    t.strictSame(shares, sorted, easing)
    t.equal(shares[0], 0)
    t.equal(shares.at(-1), 1)
  }
})
