import pino from 'pino'
import t, { type Test } from 'tap'
import { Pulse } from '../../../../capture-runner/src/server/liveness-probe.ts'

/** A pulse whose clock and pictures the test has in hand. */
function stage(t: Test) {
  const clock = { now: 1_000 }
  const beats: PromiseWithResolvers<void>[] = []
  const beat = () => {
    const next = Promise.withResolvers<void>()
    beats.push(next)
    return next.promise
  }
  const pulse = new Pulse({ beat, now: () => clock.now, log: pino({ level: 'silent' }) })
  t.teardown(() => {
    for (const { resolve } of beats) resolve()
  })
  const settle = () => new Promise<void>((done) => setImmediate(done))
  return { clock, beats, pulse, settle }
}

t.test('pulse is felt until there was no picture for a minute', async (t) => {
  const { clock, pulse } = stage(t)
  t.equal(pulse.feel(), true, 'a pod that starts has a minute')
  clock.now += 59_999
  t.equal(pulse.feel(), true)
  clock.now += 1
  t.equal(pulse.feel(), false)
})

t.test('pulse goes on with each picture, of its own or of a capture', async (t) => {
  const { clock, beats, pulse, settle } = stage(t)
  pulse.feel()
  clock.now += 70_000
  beats[0]?.resolve()
  await settle()
  t.equal(pulse.feel(), true)
  clock.now += 70_000
  pulse.note()
  t.equal(pulse.feel(), true)
})

t.test('pulse takes one picture at a time, and the next after one that failed', async (t) => {
  const { beats, pulse, settle } = stage(t)
  pulse.feel()
  pulse.feel()
  t.equal(beats.length, 1)
  beats[0]?.reject(new Error('hung'))
  await settle()
  pulse.feel()
  t.equal(beats.length, 2)
})
