import t from 'tap'
import { inRealTimeAfterLoop } from '../../../../capture-runner/src/capture/in-real-time.ts'
import { ClockLoopError } from '../../../../capture-runner/src/runtime/errors.ts'

const captured = () => ({ findings: { warnings: [] as string[], files: new Map(), page: {} } })

t.test('inRealTimeAfterLoop captures once if no script waits for the page’s clock', async (t) => {
  const modes: boolean[] = []
  const { findings } = await inRealTimeAfterLoop(async (isRealTime) => {
    modes.push(isRealTime)
    return captured()
  })
  t.strictSame(modes, [false])
  t.strictSame(findings.warnings, [])
})

t.test('inRealTimeAfterLoop captures once more in real time, with a warning', async (t) => {
  const modes: boolean[] = []
  const { findings } = await inRealTimeAfterLoop(async (isRealTime) => {
    modes.push(isRealTime)
    if (!isRealTime) throw new ClockLoopError()
    return captured()
  })
  t.strictSame(modes, [false, true])
  t.match(findings.warnings, [/loaded a second time$/])
})

t.test('inRealTimeAfterLoop passes on other errors, and never captures a third time', async (t) => {
  await t.rejects(
    inRealTimeAfterLoop(() => Promise.reject(new Error('a bug'))),
    { message: 'a bug' },
  )
  let times = 0
  const take = async () => {
    times += 1
    throw new ClockLoopError()
  }
  await t.rejects(inRealTimeAfterLoop(take), { message: 'a script of the page did not end' })
  t.equal(times, 2)
})
