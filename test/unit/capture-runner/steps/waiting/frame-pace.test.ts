import t from 'tap'
import { FramePace, isTooSlow } from '../../../../../capture-runner/src/steps/waiting/frame-pace.ts'

/** Lets frames pass that are all damaged, or none. Returns their steps, and which were drawn. */
function pass(pace: FramePace, frames: number, hasDamage: boolean) {
  return Array.from({ length: frames }, () => {
    const { milliseconds } = pace
    const isDrawn = pace.isDrawn(false)
    // A frame that is not drawn reports no damage.
    pace.note(isDrawn, isDrawn && hasDamage)
    return { milliseconds, isDrawn }
  })
}

t.test('FramePace takes larger steps while nothing is damaged, and draws each frame', async (t) => {
  const pace = new FramePace()
  const steps = pass(pace, 7, false)
  t.ok(steps.every(({ isDrawn }) => isDrawn))
  t.strictSame(
    steps.map(({ milliseconds }) => milliseconds),
    [66, 99, 148.5, 222.75, 250, 250, 250],
  )
})

t.test('FramePace returns to small steps when something is damaged, and then draws each fourth frame', async (t) => {
  const pace = new FramePace()
  pass(pace, 10, false)
  pass(pace, 1, true)
  const steps = pass(pace, 8, true)
  t.ok(steps.every(({ milliseconds }) => milliseconds === 66))
  t.strictSame(
    steps.map(({ isDrawn }) => isDrawn),
    [false, false, false, true, false, false, false, true],
  )
})

t.test('FramePace draws the last frame, which tells whether the page still moves', async (t) => {
  const pace = new FramePace()
  pass(pace, 1, true)
  t.notOk(pace.isDrawn(false))
  t.ok(pace.isDrawn(true))
})

t.test('a page is too slow by its processor time or by real time', async (t) => {
  t.notOk(isTooSlow(2.9, 7_900))
  t.ok(isTooSlow(3, 100))
  t.ok(isTooSlow(0.1, 8_000))
})
