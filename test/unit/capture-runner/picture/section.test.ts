import { inflateSync } from 'node:zlib'
import sharp from 'sharp'
import t from 'tap'
import { afterRows, beforeRows, joinFrames, type Section, toSection } from '../../../../capture-runner/src/picture/section.ts'
import { buildChromiumPng, buildPixels, type Making } from './chromium-png.ts'

const WIDTH = 300

async function sectionsOf(pictures: readonly Buffer[]): Promise<Section[]> {
  const sections = await Promise.all(pictures.map(toSection))
  return sections.filter((section) => section !== undefined)
}

/** The joined file. @throws when the sections cannot be joined */
function join(sections: readonly Section[]): Buffer {
  const frame = joinFrames(sections.map((section) => section.frame))
  if (!frame) throw new Error('these are not of one kind')
  return Buffer.concat([beforeRows(frame), ...sections.flatMap(({ rows }) => rows), afterRows(frame)])
}

const decode = (picture: Buffer) => sharp(picture).raw().toBuffer({ resolveWithObject: true })

for (const [name, making] of Object.entries({
  'no filter': { width: WIDTH, channels: 3, filter: 0 },
  Sub: { width: WIDTH, channels: 3, filter: 1 },
  Up: { width: WIDTH, channels: 3, filter: 2 },
  Paeth: { width: WIDTH, channels: 3, filter: 4 },
  'Up, with alpha': { width: WIDTH, channels: 4, filter: 2 },
} satisfies Record<string, Making>)) {
  t.test(`images are stacked without changing a pixel: ${name}`, async (t) => {
    const heights = [400, 7, 1, 900]
    const parts = heights.map((height, seed) => buildPixels(height * WIDTH * making.channels, seed))
    const sections = await sectionsOf(parts.map((pixels) => buildChromiumPng(pixels, making)))
    t.equal(sections.length, parts.length)
    const { data, info } = await decode(join(sections))
    t.match(info, { width: WIDTH, height: 1_308, channels: making.channels })
    t.ok(data.equals(Buffer.concat(parts)))
  })
}

t.test('the joined stream has the right checksum', async (t) => {
  const parts = [1, 2, 3].map((seed) => buildPixels(500 * WIDTH * 3, seed))
  const file = join(await sectionsOf(parts.map((pixels) => buildChromiumPng(pixels, { width: WIDTH, channels: 3, filter: 2 }))))
  const data: Buffer[] = []
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)))
  }
  // Throws for a wrong checksum.
  t.equal(inflateSync(Buffer.concat(data)).length, 1_500 * (1 + WIDTH * 3))
})

t.test('the browser’s compressed data is kept except for the beginning', async (t) => {
  const picture = buildChromiumPng(buildPixels(3_000 * WIDTH * 3, 8), { width: WIDTH, channels: 3, filter: 2 })
  const kept = (await toSection(picture))?.rows.at(-2)
  t.ok(kept && kept.length > picture.length / 2, `${kept?.length} of ${picture.length} bytes`)
})

t.test('toSection rejects images of other encoders than Chromium’s', async (t) => {
  const pixels = buildPixels(100 * WIDTH * 3, 9)
  const image = sharp(pixels, { raw: { width: WIDTH, height: 100, channels: 3 } })
  for (const format of ['png', 'jpeg'] as const) t.equal(await toSection(await image.toFormat(format).toBuffer()), undefined, format)
  t.equal(await toSection(buildChromiumPng(pixels, { width: WIDTH, channels: 3, filter: 3 })), undefined, 'averages need the row above')
  t.equal(await toSection(Buffer.of()), undefined)
  const whole = buildChromiumPng(pixels, { width: WIDTH, channels: 3, filter: 2 })
  for (const length of [20, 200, whole.length - 13]) t.equal(await toSection(whole.subarray(0, length)), undefined, `${length} bytes`)
})

t.test('images of different widths or color types cannot be joined', async (t) => {
  const making = { width: WIDTH, channels: 3, filter: 2 } as const
  const [picture, narrow, transparent] = await sectionsOf([
    buildChromiumPng(buildPixels(WIDTH * 3, 1), making),
    buildChromiumPng(buildPixels(30 * 3, 1), { ...making, width: 30 }),
    buildChromiumPng(buildPixels(WIDTH * 4, 1), { ...making, channels: 4 }),
  ])
  if (!picture || !narrow || !transparent) throw new Error('three sections')
  t.equal(joinFrames([picture.frame, narrow.frame]), undefined)
  t.equal(joinFrames([picture.frame, transparent.frame]), undefined)
  t.equal(joinFrames([]), undefined)
})
