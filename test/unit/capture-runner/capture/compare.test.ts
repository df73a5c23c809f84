import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { compareTwice, drawDifferences, examine } from '../../../../capture-runner/src/capture/compare.ts'
import type { Captured } from '../../../../capture-runner/src/capture/run.ts'
import { SIGNATURE, toChunk } from '../../../../capture-runner/src/picture/section.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'
import type { Engine, PictureBox } from '../../../../crds/src/kinds/comparison.ts'
import { BLACK, type Color, Drawing } from '../../../support/drawing.ts'

const plain = (width: number, height: number) => sharp({ create: { width, height, channels: 3, background: '#c00' } })
const png = (width: number, height: number): Promise<Buffer> => plain(width, height).png().toBuffer()

/** A PNG that consists of hardly more than a header of this size. */
function headerOf(width: number, height: number, isInterlaced = false): Buffer {
  const size = Buffer.alloc(8)
  size.writeUInt32BE(width, 0)
  size.writeUInt32BE(height, 4)
  const kind = Buffer.from([8, 2, 0, 0, isInterlaced ? 1 : 0])
  const rows = deflateSync(Buffer.alloc(1_000))
  return Buffer.concat([SIGNATURE, ...toChunk('IHDR', size, kind), ...toChunk('IDAT', rows), ...toChunk('IEND')])
}

interface More {
  /** Boxes that the earlier capture ignored. */
  ignored?: PictureBox[]
  /** Visible text of both captures. */
  texts?: readonly [string, string]
}

/** Compares two files as a runner does. Returns also the names of the files that it left. */
async function compareFiles(t: Test, before: Buffer, after: Buffer, { ignored = [], texts }: More = {}) {
  const directory = t.testdir({ before })
  const files = new Map<'diff' | 'text', Buffer>()
  if (texts) files.set('text', Buffer.from(texts[1]))
  const findings = { files, warnings: [] as string[] }
  const baseline = {
    directory,
    file: `${directory}/before`,
    sha256: Promise.resolve(''),
    ignored: [{ selector: '#clock', boxes: ignored }],
    text: Promise.resolve(texts?.[0]),
    [Symbol.asyncDispose]: async () => {},
  }
  const plan = buildPlan('https://example.com/', ignored.length > 0 ? { compareIgnore: [{ selector: '#clock' }] } : {})
  const signal = AbortSignal.timeout(60_000)
  const compared = examine(after, baseline, findings, plan, signal).then(async (examined) => {
    await drawDifferences(examined, findings, signal)
    return examined.comparison
  })
  const [comparison, error] = await compared.then(
    (result) => [result, undefined] as const,
    (reason: unknown) => [undefined, reason] as const,
  )
  return { comparison, error, ...findings, left: readdirSync(directory) }
}

async function isRefused(t: Test, name: string, before: Buffer): Promise<void> {
  const { error, left } = await compareFiles(t, before, await png(10, 10))
  t.match(error, { code: 'BASELINE_NOT_FOUND', message: /damaged, or is not a picture that a capture writes/ }, name)
  t.strictSame(left, ['before'], `${name}: not decoded`)
}

t.test('a small file with a header of 900 megapixels was decoded and filled the disk', async (t) => {
  await isRefused(t, '900 megapixels', headerOf(30_000, 30_000))
  await isRefused(t, 'a row of 200 megapixels', headerOf(200_000_000, 1))
  await isRefused(t, 'an interlaced png, which is decoded as a whole', headerOf(8_000, 8_001, true))
})

t.test('files in formats that no capture writes were decoded', async (t) => {
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="9" height="9"/></svg>')
  await isRefused(t, 'svg', svg)
  for (const format of ['tiff', 'gif'] as const) await isRefused(t, format, await plain(10, 10).toFormat(format).toBuffer())
  await isRefused(t, 'a png of 16 bits', await plain(10, 10).toColourspace('rgb16').png().toBuffer())
  await isRefused(t, 'text', Buffer.from('no picture'))
})

t.test('a damaged file of compare_to was reported as an internal error', async (t) => {
  const { error } = await compareFiles(t, headerOf(1_000, 1_000), await png(10, 10))
  t.match(error, { code: 'BASELINE_NOT_FOUND', message: /damaged/ })
})

t.test('compare compares pictures of each format, and shows what only one of them has', async (t) => {
  for (const format of ['png', 'jpeg', 'webp', 'avif'] as const) {
    const [before, after] = await Promise.all([20, 30].map((height) => plain(40, height).toFormat(format).toBuffer()))
    const { comparison, files } = await compareFiles(t, before!, after!)
    t.match(comparison, { changed: true, changedPixels: 400, changedRatio: 1 / 3, sizeChanged: true }, format)
    t.ok(files.has('diff'), format)
  }
  const gray = (level: number) => sharp({ create: { width: 40, height: 20, channels: 3, background: { r: level, g: level, b: level } } })
  const [dark, light] = await Promise.all([32, 224].map((level) => gray(level).toColourspace('b-w').png().toBuffer()))
  t.match((await compareFiles(t, dark!, light!)).comparison, { changed: true, changedPixels: 800 }, 'gray pictures')
  const white = { input: { create: { width: 5, height: 5, channels: 4 as const, background: '#fff' } }, top: 5 }
  const [left, right] = await Promise.all(
    [5, 20].map((at) =>
      sharp({ create: { width: 40, height: 20, channels: 4, background: '#0000' } })
        .composite([{ ...white, left: at }])
        .png()
        .toBuffer(),
    ),
  )
  t.match((await compareFiles(t, left!, right!)).comparison, { changed: true, changedPixels: 50 }, 'white on transparent')
})

t.test('an icon of a jpeg or webp whose color changed by 30 levels was not a change', async (t) => {
  for (const format of ['jpeg', 'webp', 'avif'] as const) {
    const draw = (color: Color) =>
      new Drawing(200, 100).text('NOBLE SEATS', 20, 60, 12, BLACK).box(40, 20, 20, 20, color).encode(format, 90)
    const [before, after] = await Promise.all([draw([26, 127, 55]), draw([45, 164, 78])])
    const { comparison } = await compareFiles(t, before, after)
    t.match(comparison, { changed: true, rule: 'regions', regionCount: 1 }, format)
  }
})

t.test('the noise around an ignored clock of a compressed picture was a change', async (t) => {
  for (const format of ['jpeg', 'webp', 'avif'] as const) {
    const draw = (time: string) =>
      new Drawing(240, 120).text('NOBLE SEATS SOLD', 20, 30, 12).text(time, 60, 46, 20).text('ALL', 20, 50, 12).encode(format, 40)
    const [before, after] = await Promise.all([draw('11 11'), draw('88 88')])
    const clock = { x: 60, y: 46, width: 100, height: 20 }
    t.match((await compareFiles(t, before, after, { ignored: [clock] })).comparison, { changed: false }, format)
    t.match((await compareFiles(t, before, after)).comparison, { changed: true }, `${format}: control`)
  }
})

t.test('a full stop was not a change, because it has one pixel that is not a smooth edge', async (t) => {
  const stop = new Drawing(100, 100).text('SOLD', 10, 10, 12).box(60, 21, 1, 1, BLACK)
  const [before, after] = await Promise.all([new Drawing(100, 100).text('SOLD', 10, 10, 12).encode('png'), stop.encode('png')])
  const changed = await compareFiles(t, before, after, { texts: ['SOLD', 'SOLD.'] })
  t.match(changed.comparison, { changed: true, rule: 'regions', regions: [{ x: 60, y: 21, width: 1, height: 1 }], wordsAdded: ['SOLD.'] })
  t.match((await compareFiles(t, before, after, { texts: ['SOLD', 'SOLD'] })).comparison, { changed: false }, 'the words are the same')
  t.match((await compareFiles(t, before, before, { texts: ['SOLD', 'SOLD.'] })).comparison, { changed: false }, 'no pixel differs')
})

t.test('another word in dim text was not a change, because each pixel is within the tolerance', async (t) => {
  const page = (word: string) => new Drawing(200, 100, [30, 30, 36]).text(word, 60, 40, 11, [48, 48, 54]).encode('png')
  const [before, after] = await Promise.all([page('SOLD'), page('DONE')])
  const { comparison } = await compareFiles(t, before, after, { texts: ['SOLD', 'DONE'] })
  t.match(comparison, { changed: true, rule: 'regions', regionCount: 1, wordsAdded: ['DONE'] })
  const [{ x, y, width, height }] = comparison!.regions as [PictureBox]
  t.ok(x >= 58 && y >= 38 && x + width <= 95 && y + height <= 54, 'at its place', { x, y, width, height })
  t.match((await compareFiles(t, before, after, { texts: ['SOLD', 'SOLD'] })).comparison, { changed: false }, 'the words are the same')
})

t.test('a wide and a tall picture took all memory of the runner', async (t) => {
  const { comparison, files, warnings, left } = await compareFiles(t, await png(100_000, 10), await png(10, 250_000))
  const canvas = 100_000 * 250_000
  t.match(comparison, { changed: true, changedPixels: canvas - 100, changedRatio: (canvas - 100) / canvas, sizeChanged: true })
  t.strictSame(comparison?.regions, [{ x: 0, y: 0, width: 100_000, height: 250_000 }])
  t.match(warnings, [/only the sizes were compared: .* 200 megapixels/])
  t.equal(files.size, 0, 'no picture of the differences')
  t.strictSame(left, ['before'], 'neither is decoded')
})

const pictureOf = (background: string): Promise<Buffer> =>
  sharp({ create: { width: 64, height: 64, channels: 3, background } })
    .png()
    .toBuffer()
const [red, green, blue] = await Promise.all(['#f00', '#0f0', '#00f'].map(pictureOf))

const captured = (picture: Buffer | undefined, unfit?: 'blank', text = ''): Captured => ({
  picture: picture!,
  findings: { warnings: [], files: new Map([['text', Buffer.from(text)]]), page: {}, ...(unfit ? { unfit } : {}) },
})

/** Compares with an earlier picture: first a red one, and then what `again` returns. */
async function confirm(
  t: Test,
  again: (movingElements: readonly string[]) => Promise<Captured>,
  {
    retries = 1,
    leftMilliseconds = 60_000,
    first = captured(red),
    before = green!,
    text = '' as string | null,
    engine = undefined as Engine | undefined,
    captureTimeout = 30_000,
  } = {},
) {
  const directory = t.testdir()
  const file = path.join(directory, 'before')
  await writeFile(file, before)
  const sha256 = Promise.resolve(createHash('sha256').update(before).digest('hex'))
  const baseline = {
    directory,
    file,
    sha256,
    ignored: [],
    text: Promise.resolve(text ?? undefined),
    engine,
    [Symbol.asyncDispose]: async () => {},
  }
  let calls = 0
  const kept = await compareTwice(first, {
    ...{ baseline, plan: buildPlan('https://example.com/', { retries, captureTimeout }), signal: new AbortController().signal },
    ...{ deadline: Date.now() + leftMilliseconds, captureMilliseconds: 20_000 },
    captureAgain: (movingElements) => {
      calls++
      return again(movingElements)
    },
  })
  return { kept, calls, changed: kept.findings.comparison?.changed }
}

t.test('the second load waited as long as the first one for an element that moves for ever', async (t) => {
  const first = captured(red)
  first.findings.moving = { elements: ['#ticker'] }
  const again = async (movingElements: readonly string[]) => {
    t.strictSame(movingElements, ['#ticker'])
    return captured(green)
  }
  t.match(await confirm(t, again, { first }), { calls: 1 })
})

t.test('compareTwice keeps the second capture if it does not differ, with a warning', async (t) => {
  const second = captured(green)
  t.match(await confirm(t, async () => second), { kept: second, calls: 1, changed: false })
  t.match(second.findings.warnings, [/a second one did not/])
})

t.test('compareTwice keeps the second capture if both differ in the same way', async (t) => {
  const second = captured(red)
  t.match(await confirm(t, async () => second), { kept: second, calls: 1, changed: true })
  t.match(second.findings, { warnings: [], comparison: { rule: 'regions', loads: 2, regionCount: 1, droppedRegions: 0 } })
  t.ok(second.findings.files.has('diff'))
})

t.test('a page that draws itself differently each time was a change', async (t) => {
  const second = captured(blue)
  t.match(await confirm(t, async () => second), { kept: second, calls: 1, changed: false })
  t.match(second.findings.comparison, { rule: 'loads', loads: 2, regionCount: 0, droppedRegions: 1 })
  t.match(second.findings.warnings, [/two loads of the page differ/])
})

t.test('compareTwice compares the words that both loads agree on', async (t) => {
  const load = (id: string) => captured(red, undefined, `Price 99.50 Request ${id}`)
  const { kept } = await confirm(t, async () => load('02de'), { first: load('81bc'), text: 'Price 19.50 Request 5f3a' })
  t.match(kept.findings.comparison, { changed: true, textChanged: true, wordsAdded: ['99.50'], wordsRemoved: ['19.50'] })
})

t.test('a price was lost among parts that each load draws differently', async (t) => {
  const load = (picture: Buffer, price: string) => captured(picture, undefined, price)
  const { kept } = await confirm(t, async () => load(blue!, '99.50'), { first: load(red!, '99.50'), text: '19.50' })
  t.match(kept.findings.comparison, { changed: true, rule: 'text', wordsAdded: ['99.50'] })
  const where = { regions: [{ x: 0, y: 0, width: 64, height: 64 }], regionCount: 1, droppedRegions: 0, changedPixels: 64 * 64 }
  t.match(kept.findings.comparison, where, 'the change had no place')
  const same = await confirm(t, async () => load(blue!, '19.50'), { first: load(red!, '19.50'), text: '19.50' })
  t.match(same.kept.findings.comparison, { changed: false, rule: 'loads', textChanged: false })
})

t.test('compareTwice says that the words of an earlier capture are not stored', async (t) => {
  const { kept } = await confirm(t, async () => captured(red), { text: null })
  t.match(kept.findings, { warnings: [/words were not compared/], comparison: { changed: true } })
})

t.test('compareTwice does not capture an unchanged page again', async (t) => {
  t.match(await confirm(t, async () => captured(blue), { first: captured(green) }), { calls: 0, changed: false })
})

t.test('compareTwice keeps the first capture with retries 0, and when the time is short', async (t) => {
  for (const settings of [{ retries: 0 }, { leftMilliseconds: 30_000 }]) {
    const first = captured(red)
    t.match(await confirm(t, async () => captured(green), { ...settings, first }), { kept: first, calls: 0, changed: true })
    t.match(first.findings, { warnings: [/not confirmed by a second load/], comparison: { loads: 1 } })
  }
})

t.test('a comparison that takes longer than capture_timeout kept the runner busy until the deadline', async (t) => {
  const size = { width: 1_000, height: 1_000 }
  const noise = { ...size, channels: 3, background: '#000', noise: { type: 'gaussian', mean: 128, sigma: 60 } } as const
  const [before, after] = await Promise.all([0, 1].map(() => sharp({ create: noise }).png().toBuffer()))
  for (const settings of [{ captureTimeout: 0 }, { leftMilliseconds: 0 }]) {
    const first = captured(after)
    t.match(await confirm(t, async () => captured(after), { ...settings, before, first }), { kept: first, calls: 0, changed: true })
    t.match(first.findings.comparison, {
      ...{ rule: 'size', sizeChanged: false, changedPixels: 1_000_000, changedRatio: 1, loads: 1 },
      ...{ regions: [{ x: 0, y: 0, ...size }], regionCount: 1 },
    })
    t.match(first.findings.warnings, [/not compared in time, so the page counts as changed as a whole. Raise capture_timeout/])
    t.equal(first.findings.warnings.length, 1)
  }
  t.match(await confirm(t, async () => captured(after), { before: after!, first: captured(after), captureTimeout: 0 }), { changed: false })
})

t.test('compareTwice keeps the first capture if the second fails or shows nothing', async (t) => {
  const failing = async (): Promise<Captured> => {
    throw new Error('the browser ended')
  }
  for (const again of [failing, async () => captured(blue, 'blank')]) {
    const first = captured(red)
    t.match(await confirm(t, again, { first }), { kept: first, calls: 1, changed: true })
  }
})

t.test('words that only a newer version reads were a change of a page whose loads differ', async (t) => {
  const engine = { chromium: '150.0.1', runner: '0.1.0', architecture: 'x64', fonts: 'a' }
  const shots = (text?: number) =>
    [red, blue].map((picture) => {
      const shot = captured(picture, undefined, 'Price Search')
      shot.findings.engine = { ...engine, ...(text === undefined ? {} : { text }) }
      return shot
    })
  const [first, second] = shots(2)
  const { kept, changed } = await confirm(t, async () => second!, { first: first!, engine, text: 'Price' })
  t.equal(changed, false)
  t.match(kept.findings.comparison, { rule: 'loads', engineChanged: false, textChanged: undefined })
  t.match(kept.findings.warnings, [/two loads of the page differ/, /another version of Tintype read the text/])
  const [one, two] = shots()
  t.match(await confirm(t, async () => two!, { first: one!, engine, text: 'Price' }), { changed: true }, 'both were read by the same rules')
})
