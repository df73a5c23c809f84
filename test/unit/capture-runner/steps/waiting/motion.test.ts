import t from 'tap'
import { isMoving, namesOf, STILL } from '../../../../../capture-runner/src/steps/waiting/motion.ts'

t.test('the warning about a page that still moves named nothing if its scripts had changed elements before', async (t) => {
  t.strictSame(namesOf({ ...STILL, hasChanges: true }), ['scripts'])
  for (const bits of Array.from({ length: 16 }, (_, index) => [1, 2, 4, 8].map((bit) => (index & bit) > 0))) {
    const [hasScript = false, hasChanges = false, isAnimated, hasCanvas] = bits
    const motion = { ...STILL, hasScript, hasChanges, animations: Number(isAnimated), canvases: Number(hasCanvas) }
    t.ok(!isMoving(motion) || namesOf(motion).length > 0, `${bits}`)
  }
})
