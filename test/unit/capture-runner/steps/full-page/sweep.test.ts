import t from 'tap'
import { sweepOffsets } from '../../../../../capture-runner/src/steps/full-page/sweep.ts'

t.test('sweepOffsets moves down in steps slightly shorter than the window, to the end of the page', async (t) => {
  t.strictSame(sweepOffsets(3_000, 1_000, 25_000), [950, 1_900, 2_000])
  t.strictSame(sweepOffsets(1_950, 1_000, 25_000), [950])
})

t.test('sweepOffsets is empty for a page that fits into the window', async (t) => {
  t.strictSame(sweepOffsets(1_000, 1_000, 25_000), [])
  t.strictSame(sweepOffsets(0, 1_000, 25_000), [])
})

t.test('sweepOffsets stops at the maximum height', async (t) => {
  t.strictSame(sweepOffsets(100_000, 1_000, 2_000), [950, 1_000])
})
