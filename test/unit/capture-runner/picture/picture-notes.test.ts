import t from 'tap'
import { toDifferenceHash, toPalette } from '../../../../capture-runner/src/picture/picture-notes.ts'

t.test('toDifferenceHash encodes for each pixel whether the next one is darker', async (t) => {
  const falling = Buffer.from(Array.from({ length: 72 }, (_, i) => 200 - (i % 9)))
  t.equal(toDifferenceHash(falling), 'ffffffffffffffff')
  t.equal(toDifferenceHash(Buffer.alloc(72)), '0000000000000000')
  const firstOnly = Buffer.alloc(72)
  firstOnly[0] = 9
  t.equal(toDifferenceHash(firstOnly), '8000000000000000')
})

t.test('toPalette orders colors by frequency and merges similar ones', async (t) => {
  const pixels = Buffer.from([...Array(6).fill([255, 0, 0]), ...Array(3).fill([0, 0, 255]), [251, 1, 2]].flat())
  t.strictSame(toPalette(pixels), ['#fe0000', '#0000ff'])
})
