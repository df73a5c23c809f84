import sharp, { type Sharp } from 'sharp'
import t from 'tap'
import { encode } from '../../../../capture-runner/src/picture/encode.ts'
import { toRegion, withinWindow } from '../../../../capture-runner/src/picture/tiles.ts'
import { toDifferenceHash, toPalette } from '../../../../capture-runner/src/steps/output/notes.ts'
import { setDates } from '../../../../capture-runner/src/steps/output/print.ts'

const openRed = () => sharp({ create: { width: 64, height: 64, channels: 3, background: '#f00' } })

t.test('encode creates each format at any quality', async (t) => {
  const wanted = (['png', 'jpeg', 'webp'] as const).flatMap((format) => [0, 1, 90, 100].map((quality) => ({ format, quality })))
  const made = await Promise.all(
    wanted.map(async ({ format, quality }) => {
      const encoded = await encode(openRed, format, quality)
      const { format: actual, width, height } = await sharp(encoded.picture).metadata()
      return { format: actual, width, height, quality: encoded.quality }
    }),
  )
  t.strictSame(
    made,
    wanted.map(({ format, quality }) => ({ format, width: 64, height: 64, quality: format === 'png' ? undefined : quality })),
  )
})

/** An image whose WebP overflows until the quality is low enough or the effort high enough. */
function detailed(holds: (quality: number, effort: number) => boolean) {
  const tries: [number, number][] = []
  const webp = ({ quality, effort }: { quality: number; effort: number }) => {
    tries.push([quality, effort])
    return { toBuffer: async () => (holds(quality, effort) ? Buffer.of(1) : Promise.reject(new Error('webpsave: unable to encode'))) }
  }
  return { tries, open: () => ({ webp }) as unknown as Sharp }
}

t.test('encode raises the effort for a WebP with much detail before it lowers the quality', async (t) => {
  const pains = detailed((_quality, effort) => effort > 0)
  t.equal((await encode(pains.open, 'webp', 90)).quality, 90)
  t.strictSame(pains.tries, [
    [90, 0],
    [90, 2],
  ])
  const lower = detailed((quality) => quality < 50)
  t.equal((await encode(lower.open, 'webp', 90)).quality, 45)
})

t.test('encode suggests other formats if a WebP is impossible', async (t) => {
  await t.rejects(encode(detailed(() => false).open, 'webp', 90), { code: 'TOO_LARGE', message: /jpeg or png/ })
})

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

const pdf = (date: string, zone = "+00'00'") => `%PDF-1.4
1 0 obj
<</Title (A \\(CreationDate\\))
/Producer (Skia/PDF m156)
/CreationDate (D:${date}${zone})
/ModDate (D:${date}${zone})>>
endobj
2 0 obj
<</Text
/ModDate (D:${date}${zone})>>
endobj
`

const TIME = new Date('2026-01-15T12:00:00.500Z')

t.test('setDates sets the dates of a PDF, and changes only the first object', async (t) => {
  const fixed = setDates(Buffer.from(pdf('20261124004847', "-05'30'")), TIME).toString()
  t.match(fixed, "/CreationDate (D:20260115120000+00'00')\n/ModDate (D:20260115120000+00'00')>>")
  t.match(fixed, "<</Text\n/ModDate (D:20261124004847-05'30')>>")
  t.equal(fixed.length, pdf('20261124004847', "-05'30'").length)
})

t.test('setDates leaves other files and PDFs without dates unchanged', async (t) => {
  for (const text of ['', 'nothing', '%PDF-1.4\n1 0 obj\n<</Title (D:20261124004847)>>\nendobj']) {
    t.equal(setDates(Buffer.from(text), TIME).toString(), text)
  }
})

const page = { contentWidth: 1_000, contentHeight: 5_000, scrollX: 0, scrollY: 200 }
const box = (x: number, y: number, width: number, height: number) => ({ x, y, width, height })

t.test('toRegion joins boxes in whole pixels, adds padding, and ends at the end of the page', async (t) => {
  const cases: [what: string, boxes: ReturnType<typeof box>[], padding: number, region: ReturnType<typeof box>][] = [
    ['whole pixels', [box(10.4, 20.6, 100.2, 50)], 0, box(10, 20, 101, 51)],
    ['rounding errors', [box(10.001, 20.001, 100, 50)], 0, box(10, 20, 100, 50)],
    ['two boxes', [box(100, 100, 50, 50), box(300, 400, 10, 20)], 5, box(95, 95, 220, 330)],
    ['the end of the page', [box(5, 4_990, 990, 100)], 20, box(0, 4_970, 1_000, 30)],
    ['beside the page, but never empty', [box(2_000, 10, 100, 100)], 0, box(2_000, 10, 1, 100)],
    ['below the page, but never empty', [box(10, 6_000, 100, 100)], 0, box(10, 6_000, 100, 1)],
  ]
  for (const [what, boxes, padding, region] of cases) t.strictSame(toRegion(boxes, padding, page), region, what)
})

t.test('withinWindow returns the visible part of a region', async (t) => {
  const window = { width: 800, height: 600 }
  t.strictSame(withinWindow(box(0, 0, 1_000, 1_000), window, page), box(0, 200, 800, 600))
  t.strictSame(withinWindow(box(10, 300, 20, 20), window, page), box(10, 300, 20, 20))
  t.equal(withinWindow(box(0, 0, 100, 200), window, page), undefined)
})
