import t from 'tap'
import { planSlices } from '../../../../capture-runner/src/picture/slices.ts'
import { assertEvery } from '../../../support/accepts.ts'

/** `[width, height, scale]` of pictures in device pixels, and what the default limits make of them. */
const CASES: readonly [picture: [number, number, number], maxSlices: number, slicing: object, why: string][] = [
  [[1_280, 720, 1], 1, { scale: 1, width: 1_280, height: 720, sliceCount: 1 }, 'CSS size if it fits'],
  [[1_920, 1_080, 1], 1, { scale: 1_568 / 1_920, width: 1_568, height: 882, sliceCount: 1 }, 'a wide window shrinks'],
  [[1_280, 2_240, 1], 1, { scale: 0.7, width: 896, height: 1_568, sliceCount: 1 }, 'the tallest page in one picture'],
  [[1_280, 2_250, 1], 1, { scale: 0.7, sliceHeight: 1_568, sliceCount: 2 }, 'a little more'],
  [[1_280, 2_241, 1], 12, { scale: 1, sliceHeight: 1_161, sliceCount: 2 }, 'slices of equal height at the best scale'],
  [[1_280, 26_000, 1], 12, { scale: 0.7, sliceHeight: 1_568, sliceCount: 12 }, 'the most that the default limits cover'],
  [[1_280, 26_010, 1], 12, { scale: 0.7, sliceHeight: 1_568, sliceCount: 13 }, 'beyond it'],
  [[2_560, 1_440, 2], 1, { scale: 1, width: 1_280, height: 720 }, 'two pixels for each CSS pixel'],
  [[7_680, 1_000, 1], 1, { scale: 0.7, width: 1_568, shownWidth: 2_240, sliceCount: 1 }, 'a page that is too wide is cut'],
  [[640, 12_500, 0.5], 12, { scale: 0.5, width: 640, sliceCount: 9 }, 'a picture that is smaller than its page is not enlarged'],
  [[1, 1, 1], 12, { scale: 1, width: 1, height: 1, sliceCount: 1 }, 'one pixel'],
]

for (const [[width, height, scale], maxSlices, slicing, why] of CASES) {
  t.test(`planSlices: ${why}`, async (t) => {
    t.match(planSlices({ width, height, scale }, { maxSide: 1_568, maxSlices }), slicing)
  })
}

t.test('slices join to the whole, overlap, and keep all limits, whatever the picture', async (t) => {
  const sizes = [1, 7, 393, 896, 1_097, 1_280, 1_569, 2_240, 2_241, 3_840]
  const heights = [1, 79, 81, 1_568, 1_569, 2_239, 2_241, 4_399, 4_401, 9_999, 25_999, 26_001, 200_000]
  const all = sizes.flatMap((width) =>
    heights.flatMap((height) =>
      [0.3, 1, 1.25, 3].flatMap((scale) =>
        [896, 1_568, 2_000].flatMap((maxSide) =>
          [1, 12].map((maxSlices) => {
            const picture = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)), scale }
            return { picture, maxSide, maxSlices, plan: planSlices(picture, { maxSide, maxSlices }) }
          }),
        ),
      ),
    ),
  )
  assertEvery(t, all, ({ plan, maxSide }) => plan.width <= maxSide && plan.sliceHeight <= maxSide, 'no side is too long')
  assertEvery(
    t,
    all,
    ({ plan, picture }) => plan.scale >= Math.min(0.7, picture.scale) && plan.scale <= Math.min(1, picture.scale),
    'legible',
  )
  assertEvery(t, all, ({ plan }) => plan.sliceCount === 1 || Math.abs(plan.overlap - 80 * plan.scale) <= 1, '80 CSS pixels')
  const reach = (count: number, { sliceHeight, overlap }: { sliceHeight: number; overlap: number }) =>
    count * (sliceHeight - overlap) + overlap
  assertEvery(t, all, ({ plan }) => reach(plan.sliceCount, plan) >= plan.height, 'enough slices')
  assertEvery(
    t,
    all,
    ({ plan }) => plan.sliceCount === 1 || reach(plan.sliceCount - 1, plan) < plan.height,
    'no slice too many, so that the last one shows something',
  )
})
