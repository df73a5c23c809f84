// Screenshots in tiles: Chromium's compressed data goes unchanged into the file, which shows the page pixel by pixel.

import sharp from 'sharp'
import t from 'tap'
import type { CaptureOptions } from '../../../crds/src/options/catalog.ts'
import { SAMPLES, scriptsPage } from '../../support/attack/scripts-page.ts'
import { servePages } from './stage/page-server.ts'
import { openStudio } from './stage/studio.ts'

const SECTION = 700
const stripes = Array.from(
  { length: 9 },
  (_, n) => `<div style="height:333px;background:linear-gradient(${n * 40}deg,#fd${n},#0${n}f)"></div>`,
)

const site = await servePages({ '/': scriptsPage(SAMPLES).replace('<table>', `${stripes.join('')}<table>`) })
const studio = await openStudio()
t.teardown(async () => {
  await studio.close()
  await site.close()
})

const pixelsOf = async (picture: Buffer) => sharp(picture).raw().toBuffer({ resolveWithObject: true })

function chunkTypes(png: Buffer): string[] {
  const types: string[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) types.push(png.toString('latin1', at + 4, at + 8))
  return types
}

for (const [name, options] of Object.entries({
  opaque: {},
  'at twice the size': { deviceScaleFactor: 2, fullPageSectionHeight: 2 * SECTION },
  transparent: { omitBackground: true },
} satisfies Record<string, CaptureOptions>)) {
  t.test(`a png is joined from tiles without decoding, ${name}`, async (t) => {
    const wanted = { fullPage: true, viewportWidth: 700, viewportHeight: 500, fullPageSectionHeight: SECTION, ...options }
    const once = await studio.shoot(site.url('/'), { ...wanted, fullPageAlgorithm: 'native' })
    const joined = await studio.shoot(site.url('/'), { ...wanted, fullPageAlgorithm: 'stitch' })
    const [expected, found] = [await pixelsOf(once.picture), await pixelsOf(joined.picture)]
    t.strictSame({ ...found.info, size: 0 }, { ...expected.info, size: 0 })
    t.ok(found.data.equals(expected.data), 'pixel by pixel')
    const scale = (options as CaptureOptions).deviceScaleFactor ?? 1
    const tiles = Math.ceil(found.info.height / (SECTION * scale))
    t.ok(tiles > 3, `${tiles} tiles`)
    // One chunk begins the stream and one ends it.
    t.strictSame(chunkTypes(joined.picture), ['IHDR', ...Array.from({ length: tiles + 2 }, () => 'IDAT'), 'IEND'])
  })
}
