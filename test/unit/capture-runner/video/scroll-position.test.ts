import t from 'tap'
import { type ScrollTimes, scrollShare } from '../../../../capture-runner/src/video/scroll-position.ts'

const times: ScrollTimes = { total: 5_000, pause: 500, easing: 'linear', isBack: false }

t.test('scrollShare starts after the pause and arrives one pause before the end', async (t) => {
  t.equal(scrollShare(times, 0), 0)
  t.equal(scrollShare(times, 500), 0)
  t.equal(scrollShare(times, 2_500), 0.5)
  t.equal(scrollShare(times, 4_500), 1)
  t.equal(scrollShare(times, 5_000), 1)
})

t.test('scrollShare with a duration waits at the end', async (t) => {
  const short = { ...times, duration: 1_000 }
  t.equal(scrollShare(short, 1_000), 0.5)
  t.equal(scrollShare(short, 1_500), 1)
  t.equal(scrollShare(short, 4_999), 1)
})

t.test('scrollShare goes back in the second half, with one pause at the turn', async (t) => {
  const back = { ...times, total: 4_500, isBack: true }
  t.equal(scrollShare(back, 1_250), 0.5)
  t.equal(scrollShare(back, 2_000), 1)
  t.equal(scrollShare(back, 2_250), 1)
  t.equal(scrollShare(back, 2_500), 1)
  t.equal(scrollShare(back, 3_250), 0.5)
  t.equal(scrollShare(back, 4_000), 0)
  t.equal(scrollShare(back, 4_500), 0)
})

t.test('scrollShare follows the easing curve, and never moves backward', async (t) => {
  const at = (easing: ScrollTimes['easing'], milliseconds: number) => scrollShare({ ...times, easing }, milliseconds)
  t.equal(at('ease_in', 2_500), 0.125)
  t.equal(at('ease_out', 2_500), 0.875)
  t.equal(at('ease_in_out', 2_500), 0.5)
  for (const easing of ['linear', 'ease_in', 'ease_out', 'ease_in_out'] as const) {
    const shares = Array.from({ length: 301 }, (_, frame) => at(easing, (frame * 1_000) / 60))
    t.strictSame(
      shares.toSorted((a, b) => a - b),
      shares,
      easing,
    )
    t.equal(shares[0], 0)
    t.equal(shares.at(-1), 1)
  }
})

t.test('scrollShare without time for a scroll shows the end at once', async (t) => {
  t.equal(scrollShare({ ...times, total: 1_000 }, 600), 1)
})
