import t from 'tap'
import { ClockOffsets, MAX_OFFSET_MILLISECONDS } from '../../../../operator/src/runner/clock-offsets.ts'

t.test('ClockOffsets takes a second’s difference for the rounding of a Date', async (t) => {
  const clocks = new ClockOffsets()
  t.equal(clocks.note('a', 9_000, 10_900), false)
  t.equal(clocks.of('a'), 0)
})

t.test('ClockOffsets follows a clock that is off, and tells once that it is', async (t) => {
  const clocks = new ClockOffsets()
  t.equal(clocks.note('a', 100_000, 10_000), true)
  t.equal(clocks.of('a'), 90_000)
  t.equal(clocks.note('a', 101_000, 11_500), false)
  t.equal(clocks.of('b'), 0)
})

t.test('ClockOffsets notices a clock that was mended', async (t) => {
  const clocks = new ClockOffsets()
  clocks.note('a', 100_000, 10_000)
  t.equal(clocks.note('a', 20_000, 20_000), true)
  t.equal(clocks.of('a'), 0)
})

t.test('ClockOffsets follows nobody out of all bounds, and nobody who does not say the time', async (t) => {
  const clocks = new ClockOffsets()
  t.equal(clocks.note('a', MAX_OFFSET_MILLISECONDS + 1, 0), false)
  t.equal(clocks.note('a', Number.NaN, 0), false)
  t.equal(clocks.of('a'), 0)
})

t.test('ClockOffsets forgets the oldest of too many', async (t) => {
  const clocks = new ClockOffsets()
  for (let n = 0; n <= 4_096; n++) clocks.note(`pod-${n}`, 60_000, 0)
  t.strictSame([clocks.of('pod-0'), clocks.of('pod-1')], [0, 60_000])
})
