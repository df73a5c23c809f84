import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { compareTwice } from '../../../../capture-runner/src/capture/compare.ts'
import type { Captured } from '../../../../capture-runner/src/capture/run.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'
import type { Engine } from '../../../../crds/src/kinds/comparison.ts'

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
