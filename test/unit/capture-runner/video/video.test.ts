import t from 'tap'
import { type ScrollTimes, scrollShare } from '../../../../capture-runner/src/plan/video.ts'
import { type Encoding, gifArguments, movieArguments, paletteArguments } from '../../../../capture-runner/src/video/encoder.ts'

const window = { width: 1280, height: 720 }
const encoding: Encoding = { format: 'mp4', fps: 30, quality: 70, source: window, size: window }

const argumentOf = (args: readonly string[], name: string): string | undefined => args[args.indexOf(name) + 1]

t.test('movieArguments writes an mp4 that players show before all of it has arrived, and that they can seek in', async (t) => {
  const args = movieArguments(encoding, '/v/video.mp4')
  t.strictSame([argumentOf(args, '-movflags'), argumentOf(args, '-g')], ['+faststart', '60'])
})

t.test('movieArguments can read nothing but files and its stdin', async (t) => {
  for (const args of [movieArguments(encoding, 'f'), paletteArguments(encoding, 's', 'p'), gifArguments(encoding, 's', 'p', 'f')]) {
    t.equal(argumentOf(args, '-protocol_whitelist'), 'file,pipe')
  }
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
