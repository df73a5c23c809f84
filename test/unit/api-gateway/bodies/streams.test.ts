import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ByteBuffer } from '../../../../api-gateway/src/bodies/receive.ts'
import { Discard, TURN_BYTES, TURN_MILLISECONDS } from '../../../../api-gateway/src/plugins/bodies.ts'
import { stopClock } from '../../../support/fakes/stop-clock.ts'

function aBuffer(expectedBytes: number | undefined, maxBytes = 1_000_000) {
  const covered: number[] = []
  return { buffer: new ByteBuffer({ expectedBytes, maxBytes, cover: (bytes) => covered.push(bytes) }), covered }
}
const contentOf = (buffer: ByteBuffer) => buffer.read((bytes) => bytes.toString())

t.test('a million chunks of one byte need hundreds of megabytes: they share one buffer of at most twice their size', async (t) => {
  const { buffer, covered } = aBuffer(undefined)
  for (let n = 0; n < 100_000; n++) buffer.add(Buffer.from('a'))
  t.strictSame(covered, [4_096, 8_192, 16_384, 32_768, 65_536, 131_072])
  t.equal(contentOf(buffer), 'a'.repeat(100_000))
})

t.test('an announced length that never arrives takes memory: the buffer has at most twice what has arrived, and this length', async (t) => {
  const { buffer, covered } = aBuffer(10_000)
  for (let n = 0; n < 10; n++) buffer.add(Buffer.alloc(1_000, 'a'))
  t.strictSame(covered, [4_096, 8_192, 10_000])
  t.equal(contentOf(buffer), 'a'.repeat(10_000))
})

t.test('a short body of known length gets a buffer of this size, and one in a single chunk gets none', async (t) => {
  const several = aBuffer(10)
  several.buffer.add(Buffer.from('abc'))
  several.buffer.add(Buffer.from('defghij'))
  t.strictSame(several.covered, [10])
  t.equal(contentOf(several.buffer), 'abcdefghij')
  const single = aBuffer(3)
  const chunk = Buffer.from('abc')
  single.buffer.add(chunk)
  t.equal(contentOf(single.buffer), 'abc')
  t.equal(chunk.toString(), 'abc', 'the chunk of the stream is not freed')
})

t.test('a body that is longer than announced, or begins with a large chunk, is complete', async (t) => {
  const { buffer, covered } = aBuffer(2, 10)
  for (const text of ['abc', 'de', 'fghij']) buffer.add(Buffer.from(text))
  t.strictSame(covered, [3, 5, 10])
  t.equal(contentOf(buffer), 'abcdefghij')
})

t.test('an empty body has no bytes, and a freed one neither', async (t) => {
  const { buffer } = aBuffer(undefined)
  t.equal(contentOf(buffer), '')
  buffer.add(Buffer.from('a'))
  buffer.free()
  t.equal(contentOf(buffer), '')
})

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
