import sharp from 'sharp'
import t from 'tap'
import { BLOCK, compareHashes, hashPicture, keepStillBlocks } from '../../../gallery/corpus/compare.ts'

const WIDTH = BLOCK.width * 4
const HEIGHT = BLOCK.height * 5

/** A page of lines of text and a picture, as SVG. */
const draw = (content: string, height = HEIGHT): Promise<Buffer> =>
  sharp(
    Buffer.from(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}"><rect width="100%" height="100%" fill="#fff"/>${content}</svg>`,
    ),
  )
    .png()
    .toBuffer()
const lines = (from: number, to: number): string =>
  Array.from(
    { length: to - from },
    (_, index) => `<rect x="40" y="${20 + (from + index) * 30}" width="${500 + ((from + index) % 5) * 60}" height="12" fill="#234"/>`,
  ).join('')
const photo = (y: number, opacity = 1): string => `<circle cx="700" cy="${y}" r="80" fill="#2a9d8f" opacity="${opacity}"/>`

const compare = async (reference: string, picture: string) =>
  compareHashes(await hashPicture(await draw(reference)), await hashPicture(await draw(picture)))

t.test('an image does not differ from itself or from its JPEG', async (t) => {
  const png = await draw(lines(0, 20) + photo(300))
  const jpeg = await sharp(png).jpeg({ quality: 95 }).toBuffer()
  const reference = await hashPicture(png)
  t.strictSame([reference.width, reference.height, reference.rows.length], [WIDTH, HEIGHT, 5])
  t.equal(compareHashes(reference, await hashPicture(png)).changed, 0)
  t.equal(compareHashes(reference, await hashPicture(jpeg)).changed, 0)
})

t.test('a missing section differs only in its own blocks', async (t) => {
  const { changed, blocks, places } = await compare(lines(0, 30) + photo(900), lines(0, 30))
  t.equal(blocks, 20)
  t.ok(changed > 0 && changed <= 6, `${changed} blocks`)
  t.ok(
    places.every(({ top }) => top >= 3 * BLOCK.height),
    'no block above the missing section differs',
  )
})

t.test('one missing line is detected', async (t) => {
  t.ok((await compare(lines(0, 4), lines(0, 3))).changed > 0)
})

t.test('a section that is half faded in is detected', async (t) => {
  t.ok((await compare(photo(300), photo(300, 0.6))).changed > 0)
})

t.test('a blank page differs from a page of one color', async (t) => {
  t.equal((await compare('', '<rect width="100%" height="100%" fill="#264653"/>')).changed, 20)
})

t.test('a page that is too short differs in its missing rows', async (t) => {
  const whole = await hashPicture(await draw(lines(0, 30)))
  const half = await hashPicture(await draw(lines(0, 14), 2 * BLOCK.height))
  t.equal(compareHashes(whole, half).changed, 3 * 4)
  const barely = await hashPicture(await draw(lines(0, 30), HEIGHT - 10))
  t.ok(compareHashes(whole, barely).changed > 0)
})

t.test('blocks that differ between two images of a moving page are left out of its reference', async (t) => {
  const first = await hashPicture(await draw(lines(0, 30) + photo(300)))
  const reference = keepStillBlocks(first, await hashPicture(await draw(lines(0, 30) + photo(400))))
  const other = compareHashes(reference, await hashPicture(await draw(lines(0, 30) + photo(350))))
  t.equal(other.changed, 0)
  t.ok(other.blocks < 20, `${other.blocks} blocks hold still`)
  t.ok(compareHashes(reference, await hashPicture(await draw(photo(350)))).changed > 0, 'missing text is still detected')
})
