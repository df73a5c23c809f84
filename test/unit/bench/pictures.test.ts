import sharp from 'sharp'
import t from 'tap'
import { fingerprint, toVerdict } from '../../bench/pictures.ts'

const aPicture = (width: number, background: string, compressionLevel = 6): Promise<Buffer> =>
  sharp({ create: { width, height: 4, channels: 3, background } })
    .png({ compressionLevel })
    .toBuffer()

t.test('fingerprint is the same for two encodings of one image', async (t) => {
  t.equal(await fingerprint(await aPicture(4, '#123456', 0)), await fingerprint(await aPicture(4, '#123456', 9)))
})

t.test('fingerprint differs when one pixel or the size differs', async (t) => {
  const dot = await sharp({ create: { width: 1, height: 1, channels: 3, background: '#ff0001' } })
    .png()
    .toBuffer()
  const red = await aPicture(4, '#ff0000')
  const dotted = await sharp(red)
    .composite([{ input: dot, left: 1, top: 1 }])
    .png()
    .toBuffer()
  const prints = await Promise.all([red, dotted, await aPicture(5, '#ff0000')].map(fingerprint))
  t.equal(new Set(prints).size, 3)
})

t.test('toVerdict returns same when all images of each page are equal', async (t) => {
  t.equal(
    toVerdict([
      { loop: ['a', 'a'], product: ['a'] },
      { loop: ['b'], product: ['b'] },
    ]),
    'same',
  )
})

t.test('toVerdict counts the images of each side that differ from the majority of their page', async (t) => {
  const albums = [
    { loop: ['a', 'x', 'a'], product: ['a', 'a', 'a'] },
    { loop: ['b', 'b', 'b'], product: ['b', 'y', 'z'] },
  ]
  t.equal(toVerdict(albums), 'odd: loop 1 of 6, product 2 of 6')
})
