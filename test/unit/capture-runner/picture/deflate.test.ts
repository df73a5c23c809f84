import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import t from 'tap'
import { findBlockEnd } from '../../../../capture-runner/src/picture/deflate.ts'
import { assertEvery } from '../../../support/accepts.ts'

const { Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE, Z_SYNC_FLUSH } = constants

/** Compressible bytes, with codes of all lengths and matches of all distances. */
function buildBytes(length: number, seed: number): Buffer {
  let state = seed
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) {
    const back = 1 + Math.floor(random() * 32_000)
    bytes[at] = random() < 0.6 ? (bytes[at - 1] ?? 0) : random() < 0.5 ? (bytes[at - back] ?? 0) : Math.floor(256 * random() ** 3)
  }
  return bytes
}

/** Blocks that end on a byte boundary, without a last block. */
const pack = (bytes: Buffer, level: number, strategy: number = Z_DEFAULT_STRATEGY) =>
  deflateRawSync(bytes, { level, strategy, finishFlush: Z_SYNC_FLUSH })

for (const [name, level, strategy] of [
  ['dynamic codes', 3, Z_DEFAULT_STRATEGY],
  ['fixed codes', 6, Z_FIXED],
  ['codes without matches', 6, Z_HUFFMAN_ONLY],
  ['runs', 6, Z_RLE],
  ['stored blocks', 0, Z_DEFAULT_STRATEGY],
] as const) {
  t.test(`findBlockEnd finds a position where the stream can be split: ${name}`, async (t) => {
    const cuts = [1, 2, 3].flatMap((seed) => {
      const bytes = buildBytes(400_000, seed)
      const stream = pack(bytes, level, strategy)
      return [1, 32_768, 300_000].map((least) => ({ seed, least, bytes, stream, end: findBlockEnd(stream, least) }))
    })
    const wrong = cuts.filter(({ least, bytes, stream, end }) => {
      if (!end || end.length < least || end.offset > stream.length) return true
      const before = inflateRawSync(stream.subarray(0, end.offset), { finishFlush: Z_SYNC_FLUSH })
      return !bytes.subarray(0, end.length).equals(before)
    })
    t.strictSame(
      wrong.map(({ seed, least, end }) => ({ seed, least, end })),
      [],
    )
  })
}

t.test('findBlockEnd continues after a flush up to the requested number of bytes', async (t) => {
  const parts = [buildBytes(1_000, 4), buildBytes(50_000, 5)].map((bytes) => pack(bytes, 3))
  const stream = Buffer.concat(parts)
  t.strictSame(findBlockEnd(stream, 1_000), { offset: parts[0]?.length, length: 1_000 })
  t.strictSame(findBlockEnd(stream, 51_000), { offset: stream.length, length: 51_000 })
})

t.test('findBlockEnd finds nothing if the stream ends first', async (t) => {
  const bytes = buildBytes(1_000, 6)
  t.equal(findBlockEnd(deflateRawSync(bytes), 1), undefined)
  t.equal(findBlockEnd(pack(bytes, 3), 1_001), undefined)
  t.equal(findBlockEnd(Buffer.of(), 0), undefined)
})

t.test('findBlockEnd finds nothing in invalid data', async (t) => {
  t.equal(findBlockEnd(Buffer.of(0b110), 0), undefined, 'an invalid block type')
  t.equal(findBlockEnd(Buffer.of(0, 5, 0, 5, 0, 1, 2, 3, 4, 5), 0), undefined, 'a length without its complement')
  const ends = Array.from({ length: 200 }, (_, seed) => findBlockEnd(buildBytes(300, seed).reverse(), 1))
  assertEvery(t, ends, (end) => !end || end.offset <= 300, 'no place behind the end of the stream')
})
