import t from 'tap'
import { sweepOffsets } from '../../../../../capture-runner/src/steps/full-page/sweep.ts'

t.test('sweepOffsets goes down the page in steps a little shorter than the window, and ends at its end', async (t) => {
  t.strictSame(sweepOffsets(3_000, 1_000, 25_000), [950, 1_900, 2_000])
  t.strictSame(sweepOffsets(1_950, 1_000, 25_000), [950])
})

t.test('sweepOffsets needs no step on a page that fits', async (t) => {
  t.strictSame(sweepOffsets(1_000, 1_000, 25_000), [])
  t.strictSame(sweepOffsets(0, 1_000, 25_000), [])
})

t.test('sweepOffsets goes no further than the picture will', async (t) => {
  t.strictSame(sweepOffsets(100_000, 1_000, 2_000), [950, 1_000])
})
