import t from 'tap'
import { unitsOf } from '../../../../crds/src/usage/units.ts'

t.test('a screenshot costs one unit, and a video one for each 10 seconds', async (t) => {
  t.equal(unitsOf({}), 1)
  t.equal(unitsOf({ options: { format: 'pdf', fullPage: true } }), 1)
  t.equal(unitsOf({ options: { format: 'mp4' } }), 1)
  const cost = [1, 10, 11, 20, 21, 119, 120].map((videoDuration) => unitsOf({ options: { format: 'webm', videoDuration } }))
  t.strictSame(cost, [1, 1, 2, 2, 3, 12, 12])
})
