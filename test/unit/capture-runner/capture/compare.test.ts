import { readdirSync } from 'node:fs'
import { deflateSync } from 'node:zlib'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { drawDifferences, examine } from '../../../../capture-runner/src/capture/compare.ts'
import { SIGNATURE, toChunk } from '../../../../capture-runner/src/picture/section.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'

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

/** Compares two files as a runner does. Returns also the names of the files that it left. */
async function compareFiles(t: Test, before: Buffer, after: Buffer) {
  const directory = t.testdir({ before })
  const findings = { files: new Map<'diff', Buffer>(), warnings: [] as string[] }
  const baseline = {
    directory,
    file: `${directory}/before`,
    sha256: Promise.resolve(''),
    ignored: [],
    text: Promise.resolve(undefined),
    [Symbol.asyncDispose]: async () => {},
  }
  const plan = buildPlan('https://example.com/', {})
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
