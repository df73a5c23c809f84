import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { RealSpeed } from '../../../../capture-runner/src/browser/real-speed.ts'
import { eventually } from '../../../support/eventually.ts'

t.test('RealSpeed advances by the time that has passed until it is stopped', async (t) => {
  const advances: number[] = []
  const speed = new RealSpeed(async (milliseconds) => advances.push(milliseconds))
  const { signal } = new AbortController()
  speed.start(signal)
  speed.start(signal)
  t.ok(speed.isRunning)
  await eventually('it has advanced three times', async () => advances.length >= 3)
  await speed.stop()
  t.notOk(speed.isRunning)
  const { length } = advances
  await setTimeout(50)
  t.equal(advances.length, length)
  t.ok(advances.every((milliseconds) => milliseconds > 0 && milliseconds <= 200))
})

t.test('RealSpeed ends with its signal, and when an advance fails', async (t) => {
  const stop = new AbortController()
  const speed = new RealSpeed(async () => {})
  speed.start(stop.signal)
  stop.abort(new Error('over'))
  await speed.stop()
  const failing = new RealSpeed(() => Promise.reject(new Error('the tab is gone')))
  failing.start(new AbortController().signal)
  await failing.stop()
  t.notOk(failing.isRunning)
})
