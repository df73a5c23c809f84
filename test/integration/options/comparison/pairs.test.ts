import type { CaptureOptions } from '@tintype/crds/options/catalog'
import sharp from 'sharp'
import t from 'tap'
import { choose } from '../../../support/length.ts'
import { openStage } from '../options.ts'
import { openLaboratory } from './laboratory.ts'

// Pairs of pages in a real browser: what changed, and what the comparison says. Each ratio is compared with pixelmatch on the whole pictures.

const SIZE = { viewportWidth: 800, viewportHeight: 600 } as const
const CLOCK = '<p id="clock" style="position:absolute;left:600px;top:20px;margin:0;font:24px monospace">'
const TEXT = 'The quick brown fox jumps over the lazy dog, and then it sleeps under an old oak tree until the sun comes up. '
const ARTICLE = `<h1 style="font:40px serif">News of the day</h1><p style="font:18px/1.5 sans-serif;width:560px">${TEXT.repeat(4)}</p>`
const box = (style: string): string => `<div style="position:absolute;${style}"></div>`
const document = (body: string, style = ''): string =>
  `<!doctype html><title>Page</title><body style="margin:20px;background:#fff;${style}">${body}</body>`

interface Pair {
  name: string
  before: string
  after: string
  /** For both captures. */
  options?: CaptureOptions
  /** For the second capture only. */
  more?: CaptureOptions
  changed: boolean
  /** Exact number of changed pixels, if it is known. */
  pixels?: number
  sizeChanged?: boolean
  /** Number of regions, if it is known. */
  regions?: number
}

const article = document(ARTICLE)
const thousandth: CaptureOptions = { compareThreshold: 0.001 }
const exact: CaptureOptions = { compareThreshold: 0 }
const strict: CaptureOptions = { compareThreshold: 0, compareColorTolerance: 0, compareAntialiasing: true }
const red = (style: string): string => document(ARTICLE + box(`background:#d00;${style}`))
const noticeOf = (top: number): string =>
  document(`${ARTICLE}<div id="notice" style="position:absolute;left:100px;top:${top}px;width:200px;height:80px;background:#06c"></div>`)
const clock = (time: string): string => document(`${ARTICLE}${CLOCK}${time}</p>`)
const tall = (height: number, body = ''): string => document(`${ARTICLE}${body}<div style="height:${height}px"></div>`)
/** A circle between pixels: only the color of its edge changes. */
const ring = (center: number): string => document(`<svg width="700" height="500"><circle cx="${center}" cy="250" r="150"/></svg>`)
const shade = (color: string): string => document(box(`left:100px;top:100px;width:300px;height:200px;background:${color}`))
const see = (background: string, body: string): string => document(body, `background:${background}`)

const PAIRS: readonly Pair[] = [
  { name: 'the same page', before: article, after: article, changed: false, pixels: 0, regions: 0 },
  { name: 'the same page, strictly', before: article, after: article, options: strict, changed: false, pixels: 0 },
  {
    name: 'one pixel',
    before: article,
    after: red('left:700px;top:500px;width:1px;height:1px'),
    options: exact,
    changed: true,
    pixels: 1,
    regions: 1,
  },
  {
    name: 'one pixel below the threshold',
    before: article,
    after: red('left:700px;top:500px;width:1px;height:1px'),
    options: thousandth,
    changed: false,
    pixels: 1,
  },
  {
    name: 'a square just below the threshold',
    before: article,
    after: red('left:700px;top:500px;width:21px;height:21px'),
    options: thousandth,
    changed: false,
    pixels: 441,
  },
  {
    name: 'a square just above the threshold',
    before: article,
    after: red('left:700px;top:500px;width:22px;height:22px'),
    options: thousandth,
    changed: true,
    pixels: 484,
  },
  {
    name: 'the threshold of the request',
    before: article,
    after: red('left:650px;top:400px;width:100px;height:100px'),
    options: { compareThreshold: 0.03 },
    changed: false,
    pixels: 10_000,
  },
  {
    name: 'a price, without a threshold',
    before: document(`${ARTICLE}<p style="color:#777">19.50</p>`),
    after: document(`${ARTICLE}<p style="color:#777">99.50</p>`),
    changed: true,
    regions: 1,
  },
  {
    name: 'a background that turned cream',
    before: article,
    after: document(ARTICLE, 'background:#fff6e0'),
    changed: true,
    regions: 1,
  },
  { name: 'one letter', before: article, after: document(ARTICLE.replace('old oak', 'odd oak')), options: exact, changed: true },
  {
    name: 'one letter of a headline',
    before: article,
    after: document(ARTICLE.replace('News', 'Nets')),
    options: exact,
    changed: true,
    regions: 1,
  },
  { name: 'a word of the headline', before: article, after: document(ARTICLE.replace('News', 'Olds')), changed: true },
  { name: 'another color of the text', before: article, after: document(`<div style="color:#c00">${ARTICLE}</div>`), changed: true },
  {
    name: 'a moved block',
    before: red('left:600px;top:300px;width:120px;height:120px'),
    after: red('left:600px;top:440px;width:120px;height:120px'),
    changed: true,
    pixels: 28_800,
  },
  {
    name: 'a block moved by a pixel',
    before: red('left:600px;top:300px;width:120px;height:120px'),
    after: red('left:601px;top:300px;width:120px;height:120px'),
    options: exact,
    changed: true,
    pixels: 240,
  },
  {
    name: 'two distant blocks',
    before: article,
    after: document(
      ARTICLE +
        box('background:#d00;left:650px;top:30px;width:40px;height:40px') +
        box('background:#d00;left:650px;top:500px;width:60px;height:60px'),
    ),
    changed: true,
    pixels: 5_200,
    regions: 2,
  },
  { name: 'a color by two units', before: shade('#808080'), after: shade('#828282'), options: exact, changed: false, pixels: 0 },
  {
    name: 'a color by two units, strictly',
    before: shade('#808080'),
    after: shade('#828282'),
    options: strict,
    changed: true,
    pixels: 60_000,
  },
  { name: 'a color by two units, in dark', before: shade('#040404'), after: shade('#060606'), options: exact, changed: false, pixels: 0 },
  { name: 'a color by forty units', before: shade('#608080'), after: shade('#a08080'), changed: true, pixels: 60_000 },
  {
    name: 'a tolerance that covers the difference',
    before: shade('#608080'),
    after: shade('#a08080'),
    options: { compareColorTolerance: 0.3 },
    changed: false,
    pixels: 0,
  },
  { name: 'antialiasing only', before: ring(250), after: ring(250.3), options: exact, changed: false },
  {
    name: 'antialiasing, if it counts',
    before: ring(250),
    after: ring(250.3),
    options: { compareThreshold: 0, compareAntialiasing: true },
    changed: true,
  },
  {
    name: 'text smoothed at another offset',
    before: document(`<div style="padding-left:0">${ARTICLE}</div>`),
    after: document(`<div style="padding-left:0.3px">${ARTICLE}</div>`),
    options: { compareThreshold: 0.01 },
    changed: false,
  },
  { name: 'a taller page', before: tall(700), after: tall(900), options: { fullPage: true }, changed: true, sizeChanged: true },
  { name: 'a shorter page', before: tall(900), after: tall(700), options: { fullPage: true }, changed: true, sizeChanged: true },
  {
    name: 'a taller page within the threshold',
    before: tall(3_000),
    after: tall(3_002),
    options: { ...thousandth, fullPage: true },
    changed: false,
    pixels: 1_600,
    sizeChanged: true,
  },
  {
    name: 'a narrower window',
    before: document(''),
    after: document(''),
    more: { viewportWidth: 700 },
    options: { blankPageAction: 'accept' },
    changed: true,
    pixels: 60_000,
    sizeChanged: true,
  },
  {
    name: 'a masked clock',
    before: clock('12:00:01'),
    after: clock('12:59:59'),
    options: { ...exact, maskSelectors: ['#clock'] },
    changed: false,
    pixels: 0,
  },
  { name: 'a clock', before: clock('12:00:01'), after: clock('12:59:59'), options: exact, changed: true },
  {
    name: 'an ignored clock',
    before: clock('12:00:01'),
    after: clock('12:59:59'),
    options: { ...exact, compareIgnore: [{ selector: '#clock' }] },
    changed: false,
    pixels: 0,
  },
  {
    name: 'an ignored region',
    before: clock('12:00:01'),
    after: clock('12:59:59'),
    options: { ...exact, compareIgnore: [{ x: 590, y: 10, width: 180, height: 60 }] },
    changed: false,
    pixels: 0,
  },
  {
    name: 'an ignored region beside the change',
    before: clock('12:00:01'),
    after: clock('12:59:59'),
    options: { ...exact, compareIgnore: [{ x: 0, y: 0, width: 300, height: 60 }] },
    changed: true,
  },
  {
    name: 'an ignored element that moved',
    before: noticeOf(380),
    after: noticeOf(480),
    options: { ...exact, compareIgnore: [{ selector: '#notice' }] },
    changed: false,
    pixels: 0,
  },
  {
    name: 'an ignored element that is gone',
    before: noticeOf(400),
    after: article,
    options: { ...exact, compareIgnore: [{ selector: '#notice' }] },
    changed: false,
    pixels: 0,
  },
  {
    name: 'an ignored element that is new',
    before: article,
    after: noticeOf(400),
    options: { ...exact, compareIgnore: [{ selector: '#notice' }] },
    changed: false,
    pixels: 0,
  },
  {
    name: 'an element that is gone, if only the first capture ignored it',
    before: noticeOf(400),
    after: article,
    options: exact,
    changed: true,
    pixels: 16_000,
  },
  {
    name: 'an ignored element at twice the scale',
    before: clock('12:00:01'),
    after: clock('12:59:59'),
    options: { ...exact, deviceScaleFactor: 2, compareIgnore: [{ selector: '#clock' }] },
    changed: false,
    pixels: 0,
  },
  {
    name: 'an ignored element in a clipped picture',
    before: clock('12:00:01'),
    after: clock('12:59:59'),
    options: { ...exact, clipX: 500, clipY: 0, clipWidth: 300, clipHeight: 100, compareIgnore: [{ selector: '#clock' }] },
    changed: false,
    pixels: 0,
  },
  {
    name: 'a change at the end of a page of many strips',
    before: tall(4_000, box('background:#d00;left:600px;top:4200px;width:30px;height:30px')),
    after: tall(4_000),
    options: { ...exact, fullPage: true },
    changed: true,
    pixels: 900,
    regions: 1,
  },
  {
    name: 'white on transparent',
    before: see('transparent', box('background:#fff;left:100px;top:100px;width:50px;height:50px')),
    after: see('transparent', box('background:#fff;left:300px;top:100px;width:50px;height:50px')),
    options: { ...exact, omitBackground: true, blankPageAction: 'accept' },
    changed: true,
    pixels: 5_000,
  },
  { name: 'the same page as jpeg', before: article, after: article, options: { ...exact, format: 'jpeg' }, changed: false, pixels: 0 },
  {
    name: 'a moved block as webp',
    before: red('left:600px;top:300px;width:120px;height:120px'),
    after: red('left:600px;top:440px;width:120px;height:120px'),
    options: { format: 'webp' },
    changed: true,
  },
  {
    name: 'gray pictures',
    before: shade('#202020'),
    after: shade('#e0e0e0'),
    options: { imageGrayscale: true },
    changed: true,
    pixels: 60_000,
  },
]

const pages = Object.fromEntries(
  PAIRS.flatMap(({ before, after }, index) => [
    [`/${index}/before`, before],
    [`/${index}/after`, after],
  ]),
)
const stage = await openStage(t, pages)
const laboratory = await openLaboratory(t)

t.ok(PAIRS.length >= 40, `${PAIRS.length} pairs`)

// Neighbors in the list often lie on both sides of a rule, so `npm test` takes two and leaves out two.
const chosen = choose([...PAIRS.entries()], ([index]) => index % 4 < 2)

for (const [index, { name, options = {}, more = {}, changed, pixels, sizeChanged = false, regions }] of chosen) {
  t.test(`comparison of ${name} says ${changed ? 'changed' : 'unchanged'}`, async (t) => {
    const before = await stage.shoot(`/${index}/before`, { ...SIZE, ...options })
    const after = await stage.shoot(`/${index}/after`, { ...SIZE, ...options, ...more })
    const { comparison, diff, reference } = await laboratory.compareCaptures(before, after, options)
    t.match(comparison, { changed, sizeChanged })
    if (comparison.rule !== 'color') t.equal(comparison.changedRatio, reference, 'pixelmatch on the whole pictures finds the same')
    if (pixels !== undefined) t.equal(comparison.changedPixels, pixels)
    if (regions !== undefined) t.equal(comparison.regions?.length, regions)
    t.equal(diff !== undefined, comparison.changedPixels !== 0, 'a picture of the differences')
    if (!diff) return
    const { width, height } = await sharp(diff).metadata()
    t.same([width, height], [Math.max(before.pixels.width, after.pixels.width), Math.max(before.pixels.height, after.pixels.height)])
  })
}
