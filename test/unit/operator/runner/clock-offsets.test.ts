import t from 'tap'
import { ClockOffsets, MAX_OFFSET_MILLISECONDS } from '../../../../operator/src/runner/clock-offsets.ts'

t.test('ClockOffsets ignores a difference of a second, which is the rounding of a Date', async (t) => {
  const clocks = new ClockOffsets()
  t.equal(clocks.note('a', 9_000, 10_900), false)
  t.equal(clocks.of('a'), 0)
})

t.test('ClockOffsets records the offset of a clock, and reports the change once', async (t) => {
  const clocks = new ClockOffsets()
  t.equal(clocks.note('a', 100_000, 10_000), true)
  t.equal(clocks.of('a'), 90_000)
  t.equal(clocks.note('a', 101_000, 11_500), false)
  t.equal(clocks.of('b'), 0)
})

t.test('ClockOffsets notices a corrected clock', async (t) => {
  const clocks = new ClockOffsets()
  clocks.note('a', 100_000, 10_000)
  t.equal(clocks.note('a', 20_000, 20_000), true)
  t.equal(clocks.of('a'), 0)
})

t.test('ClockOffsets ignores offsets beyond the maximum, and responses without a Date', async (t) => {
  const clocks = new ClockOffsets()
  t.equal(clocks.note('a', MAX_OFFSET_MILLISECONDS + 1, 0), false)
  t.equal(clocks.note('a', Number.NaN, 0), false)
  t.equal(clocks.of('a'), 0)
})

t.test('ClockOffsets drops the oldest of too many entries', async (t) => {
  const clocks = new ClockOffsets()
  for (let n = 0; n <= 4_096; n++) clocks.note(`pod-${n}`, 60_000, 0)
  t.strictSame([clocks.of('pod-0'), clocks.of('pod-1')], [0, 60_000])
})
