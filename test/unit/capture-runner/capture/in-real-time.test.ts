import t from 'tap'
import { inRealTimeAfterHang } from '../../../../capture-runner/src/capture/in-real-time.ts'
import { FrameHungError } from '../../../../capture-runner/src/runtime/errors.ts'

const captured = () => ({ findings: { warnings: [] as string[], files: new Map(), page: {} } })

t.test('inRealTimeAfterHang captures once if all frames end', async (t) => {
  const modes: boolean[] = []
  const { findings } = await inRealTimeAfterHang(async (isRealTime) => {
    modes.push(isRealTime)
    return captured()
  })
  t.strictSame(modes, [false])
  t.strictSame(findings.warnings, [])
})

t.test('inRealTimeAfterHang captures once more in real time, with a warning', async (t) => {
  const modes: boolean[] = []
  const { findings } = await inRealTimeAfterHang(async (isRealTime) => {
    modes.push(isRealTime)
    if (!isRealTime) throw new FrameHungError()
    return captured()
  })
  t.strictSame(modes, [false, true])
  t.match(findings.warnings, [/loaded a second time$/])
})

t.test('inRealTimeAfterHang passes on other errors, and never captures a third time', async (t) => {
  await t.rejects(
    inRealTimeAfterHang(() => Promise.reject(new Error('a bug'))),
    { message: 'a bug' },
  )
  let times = 0
  const take = async () => {
    times += 1
    throw new FrameHungError()
  }
  await t.rejects(inRealTimeAfterHang(take), { message: 'the browser stopped drawing' })
  t.equal(times, 2)
})
