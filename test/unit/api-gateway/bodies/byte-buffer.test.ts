import t from 'tap'
import { ByteBuffer } from '../../../../api-gateway/src/bodies/byte-buffer.ts'

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
