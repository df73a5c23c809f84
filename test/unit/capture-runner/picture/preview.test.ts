import sharp from 'sharp'
import t from 'tap'
import { makePreview } from '../../../../capture-runner/src/picture/preview.ts'
import type { PreviewPlan } from '../../../../capture-runner/src/plan/preview.ts'

const plan: PreviewPlan = { format: 'webp', maxSide: 1_568, maxBytes: 262_144, maxSlices: 12 }

/** A picture that no format compresses. */
function openNoise(width: number, height: number) {
  const bits = new Uint32Array((width * height * 3) / 4)
  let seed = 1
  for (let index = 0; index < bits.length; index++) {
    seed ^= seed << 13
    seed ^= seed >>> 17
    seed ^= seed << 5
    bits[index] = seed
  }
  return sharp(Buffer.from(bits.buffer), { raw: { width, height, channels: 3 } })
}

t.test('a slice that is too large at the lowest quality has fewer rows, and the next one goes on from there', async (t) => {
  const noise = await openNoise(1_000, 2_400).png({ compressionLevel: 0 }).toBuffer()
  for (const format of ['webp', 'jpeg'] as const) {
    const { file, places } = await makePreview(noise, 1, { ...plan, format, maxBytes: 65_536, maxSlices: 2 })
    const { slices, scale, shownHeight, sliceCount } = places
    t.equal(slices.length, 2)
    t.ok(sliceCount > 2, 'the page needs more')
    let [end, shown] = [0, 0]
    for (const { offset, length, width, height, y } of slices) {
      t.equal(offset, end)
      t.ok(length <= 65_536 && length > 0 && height < 1_568 && height > 20, `${width} × ${height}, ${length} bytes`)
      const { info } = await sharp(file.subarray(offset, offset + length)).toBuffer({ resolveWithObject: true })
      t.strictSame([info.format, info.width, info.height], [format, width, height])
      t.ok(y <= shown && y + height / scale > shown, 'no row is missing')
      end = offset + length
      shown = y + height / scale
    }
    t.equal(end, file.length)
    t.ok(Math.abs(shownHeight - shown) <= 2)
  }
})

t.test('a transparent picture is shown on white, as viewers of a jpeg have no other color for it', async (t) => {
  const picture = await sharp({ create: { width: 90, height: 40, channels: 4, background: '#0000' } })
    .png()
    .toBuffer()
  const { file, places } = await makePreview(picture, 1, plan)
  t.strictSame(places.slices, [{ offset: 0, length: file.length, width: 90, height: 40, y: 0 }])
  t.strictSame([...(await sharp(file).raw().toBuffer()).subarray(0, 3)], [255, 255, 255])
})

t.test('the preview of a tall picture has the same rows as the picture', async (t) => {
  const rows = Buffer.alloc(600 * 9_000 * 3)
  for (let y = 0; y < 9_000; y++) rows.fill(Math.floor(y / 100) * 2, y * 600 * 3, (y + 1) * 600 * 3)
  const picture = await sharp(rows, { raw: { width: 600, height: 9_000, channels: 3 } })
    .png({ compressionLevel: 1 })
    .toBuffer()
  const { file, places } = await makePreview(picture, 1, plan)
  t.match(places, { width: 600, height: 9_000, shownHeight: 9_000, sliceCount: 5 })
  const wrong: string[] = []
  for (const { offset, length, width, height, y } of places.slices) {
    const pixels = await sharp(file.subarray(offset, offset + length))
      .raw()
      .toBuffer()
    for (let row = Math.ceil(y / 100); row < Math.floor((y + height / places.scale) / 100); row++) {
      const level = pixels[(Math.round((row * 100 + 50 - y) * places.scale) * width + 300) * 3] ?? -1
      if (Math.abs(level - row * 2) > 4) wrong.push(`row ${row} is ${level}`)
    }
  }
  t.strictSame(wrong, [])
})
