import sharp from 'sharp'
import t from 'tap'
import { compare } from '../../bench/pictures.ts'

const aPicture = (width: number, background: string, compressionLevel = 6): Promise<Buffer> =>
  sharp({ create: { width, height: 4, channels: 3, background } })
    .png({ compressionLevel })
    .toBuffer()

t.test('compare finds no difference between two encodings of one picture', async (t) => {
  t.strictSame(await compare(await aPicture(4, '#123456', 0), await aPicture(4, '#123456', 9)), { isSameSize: true, differentPixels: 0 })
})

t.test('compare counts the pixels that differ in any channel', async (t) => {
  const dot = await sharp({ create: { width: 2, height: 1, channels: 3, background: '#ff0001' } })
    .png()
    .toBuffer()
  const dotted = await sharp(await aPicture(4, '#ff0000'))
    .composite([{ input: dot, left: 1, top: 1 }])
    .png()
    .toBuffer()
  t.equal((await compare(await aPicture(4, '#ff0000'), dotted)).differentPixels, 2)
})

t.test('compare says when the sizes differ', async (t) => {
  t.equal((await compare(await aPicture(4, '#fff'), await aPicture(5, '#fff'))).isSameSize, false)
})
