import { readdir } from 'node:fs/promises'
import sharp from 'sharp'
import t from 'tap'
import { stitch } from '../../../../capture-runner/src/picture/stitch.ts'
import type { Tile } from '../../../../capture-runner/src/plan/region.ts'
import { buildChromiumPng, buildPixels } from './chromium-png.ts'

const WIDTH = 200
const HEIGHT = 300
const tiles: Tile[] = [0, 1, 2].map((n) => ({ x: 0, y: n * HEIGHT, width: WIDTH, height: HEIGHT }))
const pixelsOf = ({ y }: Tile, channels = 3) => buildPixels(HEIGHT * WIDTH * channels, y + 1)
const asChromium = async (tile: Tile) => buildChromiumPng(pixelsOf(tile), { width: WIDTH, channels: 3, filter: 2 })
const asLibrary = (tile: Tile) =>
  sharp(pixelsOf(tile), { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .png()
    .toBuffer()
const png = (signal = new AbortController().signal) => ({ format: 'png', quality: undefined, signal }) as const

/** A separate directory for temporary files. */
function useTemporaryDirectory(t: Tap): string {
  const directory = t.testdir({})
  const before = process.env.TMPDIR
  process.env.TMPDIR = directory
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  return directory
}
type Tap = Pick<typeof t, 'testdir' | 'teardown'>

for (const [name, take] of Object.entries({
  'as they are': asChromium,
  decoded: asLibrary,
  'decoded where one is of another make': (tile: Tile) => (tile.y === HEIGHT ? asLibrary(tile) : asChromium(tile)),
})) {
  t.test(`stitch joins tiles, top first, and leaves no file behind: ${name}`, async (t) => {
    const directory = useTemporaryDirectory(t)
    const { picture, quality } = await stitch(tiles, take, png())
    const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true })
    t.match(info, { width: WIDTH, height: 3 * HEIGHT, channels: 3 })
    t.ok(data.equals(Buffer.concat(tiles.map((tile) => pixelsOf(tile)))))
    t.equal(quality, undefined)
    t.strictSame(await readdir(directory), [])
  })
}

t.test('stitch joins tiles with and without alpha', async (t) => {
  useTemporaryDirectory(t)
  const transparent = (tile: Tile) => buildChromiumPng(pixelsOf(tile, 4), { width: WIDTH, channels: 4, filter: 2 })
  const { picture } = await stitch(tiles, async (tile) => (tile.y === HEIGHT ? transparent(tile) : asChromium(tile)), png())
  const { data, info } = await sharp(picture).raw().toBuffer({ resolveWithObject: true })
  t.match(info, { width: WIDTH, height: 3 * HEIGHT, channels: 4 })
  const middle = data.subarray(HEIGHT * WIDTH * 4, 2 * HEIGHT * WIDTH * 4)
  t.ok(middle.equals(pixelsOf(tiles[1] as Tile, 4)))
})

t.test('stitch encodes a jpeg and a webp', async (t) => {
  useTemporaryDirectory(t)
  for (const format of ['jpeg', 'webp'] as const) {
    const { picture, quality } = await stitch(tiles, asChromium, { ...png(), format, quality: 80 })
    t.match(await sharp(picture).metadata(), { format, width: WIDTH, height: 3 * HEIGHT })
    t.equal(quality, 80)
  }
})

t.test('stitch takes one tile at a time', async (t) => {
  useTemporaryDirectory(t)
  let underWay = 0
  const take = async (tile: Tile) => {
    t.equal(++underWay, 1)
    const picture = await asChromium(tile)
    underWay--
    return picture
  }
  await stitch(tiles, take, png())
})

t.test('stitch ends with its signal and leaves no file behind', async (t) => {
  const directory = useTemporaryDirectory(t)
  const end = new AbortController()
  const reason = new Error('canceled')
  const take = async (tile: Tile) => {
    if (tile === tiles.at(-1)) end.abort(reason)
    return asChromium(tile)
  }
  await t.rejects(stitch(tiles, take, png(end.signal)), reason)
  t.strictSame(await readdir(directory), [])
})

t.test('stitch fails with a tile that cannot be taken and leaves no file behind', async (t) => {
  const directory = useTemporaryDirectory(t)
  const take = async (tile: Tile) => {
    if (tile === tiles.at(-1)) throw new Error('no picture')
    return asChromium(tile)
  }
  await t.rejects(stitch(tiles, take, png()), { message: 'no picture' })
  t.strictSame(await readdir(directory), [])
})
