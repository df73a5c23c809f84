import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Discard, TURN_BYTES, TURN_MILLISECONDS } from '../../../../api-gateway/src/bodies/discard.ts'
import { stopClock } from '../../../support/fakes/stop-clock.ts'

const CHUNK = Buffer.alloc(65_536)

/** A body whose client sends as fast as it is read. */
function aBody(bytes: number, seen: { bytes: number }): Readable {
  let left = bytes
  return new Readable({
    highWaterMark: CHUNK.length,
    read() {
      if (left <= 0) return void this.push(null)
      left -= CHUNK.length
      seen.bytes += CHUNK.length
      this.push(CHUNK)
    },
  })
}
const rest = async () => {
  for (let n = 0; n < 1_000; n++) await setImmediate()
}

t.test('the rest of a small body is discarded at once, so that the connection can be used again', async (t) => {
  stopClock(t)
  const body = aBody(CHUNK.length, { bytes: 0 })
  new Discard().add(body)
  await rest()
  t.ok(body.readableEnded)
})

t.test('many refused bodies are discarded with a limited rate, to their ends', async (t) => {
  const timers = stopClock(t)
  const discard = new Discard()
  const seen = { bytes: 0 }
  const bodies = Array.from({ length: 40 }, () => aBody(TURN_BYTES, seen))
  for (const body of bodies) discard.add(body)
  await rest()
  // Each stream has read one or two chunks more when it is paused.
  const slack = bodies.length * 2 * CHUNK.length
  t.ok(seen.bytes <= TURN_BYTES + slack, `${seen.bytes} bytes before the first pause`)
  for (let turn = 1; !bodies.every(({ readableEnded }) => readableEnded); turn++) {
    t.ok(turn <= 200, 'all bodies end')
    if (turn > 200) break
    const before = seen.bytes
    timers.tick(TURN_MILLISECONDS)
    await rest()
    if (seen.bytes - before > TURN_BYTES + slack) t.fail(`${seen.bytes - before} bytes in turn ${turn}`)
  }
  t.equal(seen.bytes, bodies.length * TURN_BYTES)
})

t.test('a client that goes away while its body is discarded does not matter', async (t) => {
  stopClock(t)
  const body = new Readable({ read() {} })
  new Discard().add(body)
  body.destroy(new Error('reset'))
  await rest()
  t.ok(body.destroyed)
})
