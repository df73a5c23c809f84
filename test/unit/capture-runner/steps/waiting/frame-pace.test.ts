import t from 'tap'
import { FramePace, isTooSlow } from '../../../../../capture-runner/src/steps/waiting/frame-pace.ts'

const LEFT = 2_000

/** Lets frames pass. Returns their steps, and which were drawn. */
function pass(pace: FramePace, frames: number, { hasDamage = false, hasScript = false, left = LEFT }) {
  return Array.from({ length: frames }, () => {
    const milliseconds = pace.stepWithin(left)
    const isDrawn = pace.isDrawn(false)
    // A frame that is not drawn reports no damage.
    pace.note({ isDrawn, hasDamage: isDrawn && hasDamage, hasScript })
    return { milliseconds, isDrawn }
  })
}
const stepsOf = (passed: ReturnType<typeof pass>) => passed.map(({ milliseconds }) => milliseconds)

t.test('FramePace takes larger steps while scripts change nothing, and draws each frame', async (t) => {
  const passed = pass(new FramePace(), 7, { hasScript: true })
  t.ok(passed.every(({ isDrawn }) => isDrawn))
  t.strictSame(stepsOf(passed), [66, 99, 148.5, 222.75, 250, 250, 250])
})

t.test('FramePace passes the rest of the time at once for a page that rests', async (t) => {
  const pace = new FramePace()
  t.strictSame(stepsOf(pass(pace, 3, {})), [66, 99, LEFT])
  pass(pace, 1, { hasScript: true })
  t.strictSame(stepsOf(pass(pace, 3, {})), [250, 250, LEFT], 'a script ends the rest')
})

t.test('FramePace returns to small steps when something is damaged, and then draws each fourth frame', async (t) => {
  const pace = new FramePace()
  pass(pace, 10, {})
  pass(pace, 1, { hasDamage: true })
  const passed = pass(pace, 8, { hasDamage: true })
  t.strictSame(new Set(stepsOf(passed)), new Set([66]), 'frames that are not drawn do not count as rest')
  t.strictSame(
    passed.map(({ isDrawn }) => isDrawn),
    [false, false, false, true, false, false, false, true],
  )
})

t.test('FramePace draws the last frame, which tells whether the page still moves', async (t) => {
  const pace = new FramePace()
  pass(pace, 1, { hasDamage: true })
  t.notOk(pace.isDrawn(false))
  t.ok(pace.isDrawn(true))
})

t.test('FramePace adds time for what a long step has skipped, once', async (t) => {
  const end = { isDrawn: true, hasDamage: false, hasScript: true }
  const pace = new FramePace()
  t.equal(pace.extend(250, true, end), 0)
  t.equal(pace.extend(1_500, true, { ...end, hasScript: false }), 0)
  t.equal(pace.extend(1_500, true, end), 1_500)
  t.equal(pace.extend(1_500, true, end), 0)
})

t.test('scripts that count frames get them after the wait if they still move the page', async (t) => {
  const end = { isDrawn: true, hasDamage: true, hasScript: true, hasFrameScript: true }
  const pace = new FramePace()
  pace.note(end)
  t.equal(pace.frames, 2, 'most measure the time instead')
  t.equal(pace.extend(66, false, end), 0, 'not before the end, and not if frames take longer than in real time')
  t.equal(pace.extend(66, true, { ...end, hasFrameScript: false }), 0)
  t.equal(pace.extend(66, true, end), 1_500)
  pace.note(end)
  t.equal(pace.frames, 4)
})

t.test('a page that counted frames without a change of its looks got a tenth of them', async (t) => {
  const pace = new FramePace()
  pass(pace, 5, { hasScript: true })
  t.equal(pace.frames, 1)
  pace.note({ isDrawn: true, hasDamage: false, hasScript: true, hasFrameScript: true })
  t.strictSame([pace.frames, pace.stepWithin(LEFT)], [4, 66])
  pace.note({ isDrawn: true, hasDamage: false, hasScript: true, hasFrameScript: false })
  t.equal(pace.frames, 1)
})

t.test('a page is too slow by its processor time', async (t) => {
  t.notOk(isTooSlow(2.9))
  t.ok(isTooSlow(3))
})
