import pino from 'pino'
import t, { type Test } from 'tap'
import { LivenessProbe } from '../../../../capture-runner/src/server/liveness-probe.ts'

/** A liveness probe whose clock and screenshots the test controls. */
function stage(t: Test) {
  const clock = { now: 1_000 }
  const screenshots: PromiseWithResolvers<void>[] = []
  const takeScreenshot = () => {
    const next = Promise.withResolvers<void>()
    screenshots.push(next)
    return next.promise
  }
  const livenessProbe = new LivenessProbe({ takeScreenshot, now: () => clock.now, log: pino({ level: 'silent' }) })
  t.teardown(() => {
    for (const { resolve } of screenshots) resolve()
  })
  const settle = () => new Promise<void>((done) => setImmediate(done))
  return { clock, screenshots, livenessProbe, settle }
}

t.test('LivenessProbe passes until there was no screenshot for a minute', async (t) => {
  const { clock, livenessProbe } = stage(t)
  t.equal(livenessProbe.check(), true, 'a pod that starts has a minute')
  clock.now += 59_999
  t.equal(livenessProbe.check(), true)
  clock.now += 1
  t.equal(livenessProbe.check(), false)
})

t.test('LivenessProbe passes after each screenshot, its own or a capture’s', async (t) => {
  const { clock, screenshots, livenessProbe, settle } = stage(t)
  livenessProbe.check()
  clock.now += 70_000
  screenshots[0]?.resolve()
  await settle()
  t.equal(livenessProbe.check(), true)
  clock.now += 70_000
  livenessProbe.note()
  t.equal(livenessProbe.check(), true)
})

t.test('LivenessProbe takes one screenshot at a time, and the next after a failure', async (t) => {
  const { screenshots, livenessProbe, settle } = stage(t)
  livenessProbe.check()
  livenessProbe.check()
  t.equal(screenshots.length, 1)
  screenshots[0]?.reject(new Error('hung'))
  await settle()
  livenessProbe.check()
  t.equal(screenshots.length, 2)
})
