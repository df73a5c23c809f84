import { readdir } from 'node:fs/promises'
import sharp from 'sharp'
import t from 'tap'
import { stitch } from '../../../../capture-runner/src/picture/stitch.ts'
import type { Tile } from '../../../../capture-runner/src/plan/picture.ts'
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

t.test('stitch encodes a jpeg and a webp, with each tile at its place', async (t) => {
  useTemporaryDirectory(t)
  const levelAt = (y: number) => 40 + y / 6
  const take = ({ y, width, height }: Tile) =>
    sharp({ create: { width, height, channels: 3, background: { r: levelAt(y), g: 0, b: 0 } } })
      .png()
      .toBuffer()
  for (const format of ['jpeg', 'webp'] as const) {
    const { picture, quality } = await stitch(tiles, take, { ...png(), format, quality: 80 })
    t.match(await sharp(picture).metadata(), { format, width: WIDTH, height: 3 * HEIGHT })
    t.equal(quality, 80)
    for (const { x, y, width, height } of tiles) {
      const tile = await sharp(picture).extract({ left: x, top: y, width, height }).toBuffer()
      const [red] = (await sharp(tile).stats()).channels
      t.ok(Math.abs((red?.mean ?? 0) - levelAt(y)) < 4, `${format} at ${y}: ${red?.mean}`)
    }
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

t.test('stitch ends with its signal, or with a tile that cannot be taken, and leaves no file behind', async (t) => {
  const directory = useTemporaryDirectory(t)
  const end = new AbortController()
  const endings = {
    'no picture': () => Promise.reject(new Error('no picture')),
    canceled: async () => end.abort(new Error('canceled')),
  }
  for (const [message, fail] of Object.entries(endings)) {
    const take = async (tile: Tile) => {
      if (tile === tiles.at(-1)) await fail()
      return asChromium(tile)
    }
    await t.rejects(stitch(tiles, take, png(end.signal)), { message })
    t.strictSame(await readdir(directory), [], message)
  }
})
