import type { CaptureOptions } from '@tintype/crds/options/catalog'
import sharp from 'sharp'
import t from 'tap'
import { choose } from '../../../support/length.ts'
import { openStage, type Shot } from '../options.ts'
import { openLaboratory } from './laboratory.ts'

// Pairs of pages in a real browser: what changed, and what the comparison says. Each ratio is compared with pixelmatch on the whole pictures.

const SIZE = { viewportWidth: 800, viewportHeight: 600 } as const
const CLOCK = '<p id="clock" style="position:absolute;left:600px;top:20px;margin:0;font:24px monospace">'
const TEXT = 'The quick brown fox jumps over the lazy dog, and then it sleeps under an old oak tree until the sun comes up. '
const ARTICLE = `<h1 style="font:40px serif">News of the day</h1><p style="font:18px/1.5 sans-serif;width:560px">${TEXT.repeat(4)}</p>`
const box = (style: string): string => `<div style="position:absolute;${style}"></div>`
const document = (body: string, style = ''): string =>
  `<!doctype html><title>Page</title><body style="margin:20px;background:#fff;${style}">${body}</body>`

/** What else is known of a pair. */
interface More {
  /** For both captures. */
  options?: CaptureOptions
  /** For the second capture only. */
  more?: CaptureOptions
  /** Exact number of changed pixels. */
  pixels?: number
  sizeChanged?: boolean
  regions?: number
}
type Pair = readonly [name: string, before: string, after: string, changed: boolean, more?: More]

const article = document(ARTICLE)
const thousandth: CaptureOptions = { compareThreshold: 0.001 }
const exact: CaptureOptions = { compareThreshold: 0 }
const redBox = (left: number, top: number, width: number): string =>
  box(`left:${left}px;top:${top}px;width:${width}px;height:${width}px;background:#d00`)
const red = (left: number, top: number, width: number): string => document(ARTICLE + redBox(left, top, width))
const noticeOf = (top: number): string =>
  document(`${ARTICLE}<div id="notice" style="position:absolute;left:100px;top:${top}px;width:200px;height:80px;background:#06c"></div>`)
const clock = (time: string): string => document(`${ARTICLE}${CLOCK}${time}</p>`)
const tall = (height: number, body = ''): string => document(`${ARTICLE}${body}<div style="height:${height}px"></div>`)
/** A circle between pixels: only the color of its edge changes. */
const ring = (center: number): string => document(`<svg width="700" height="500"><circle cx="${center}" cy="250" r="150"/></svg>`)
const shade = (color: string): string => document(box(`left:100px;top:100px;width:300px;height:200px;background:${color}`))
const see = (background: string, body: string): string => document(body, `background:${background}`)

const PAIRS: readonly Pair[] = [
  ['the same page', article, article, false, { pixels: 0, regions: 0 }],
  ['one pixel', article, red(700, 500, 1), true, { options: exact, pixels: 1, regions: 1 }],
  [
    'a price, without a threshold',
    document(`${ARTICLE}<p style="color:#777">19.50</p>`),
    document(`${ARTICLE}<p style="color:#777">99.50</p>`),
    true,
    { regions: 1 },
  ],
  ['a background that turned cream', article, document(ARTICLE, 'background:#fff6e0'), true, { regions: 1 }],
  ['one letter', article, document(ARTICLE.replace('old oak', 'odd oak')), true, { options: exact }],
  ['one letter of a headline', article, document(ARTICLE.replace('News', 'Nets')), true, { options: exact, regions: 1 }],
  ['a word of the headline', article, document(ARTICLE.replace('News', 'Olds')), true],
  ['another color of the text', article, document(`<div style="color:#c00">${ARTICLE}</div>`), true],
  ['a moved block', red(600, 300, 120), red(600, 440, 120), true, { pixels: 28_800 }],
  ['antialiasing only', ring(250), ring(250.3), false, { options: exact }],
  ['antialiasing, if it counts', ring(250), ring(250.3), true, { options: { compareThreshold: 0, compareAntialiasing: true } }],
  [
    'text smoothed at another offset',
    document(`<div style="padding-left:0">${ARTICLE}</div>`),
    document(`<div style="padding-left:0.3px">${ARTICLE}</div>`),
    false,
    { options: { compareThreshold: 0.01 } },
  ],
  ['a taller page', tall(700), tall(900), true, { options: { fullPage: true }, sizeChanged: true }],
  ['a shorter page', tall(900), tall(700), true, { options: { fullPage: true }, sizeChanged: true }],
  [
    'a taller page within the threshold',
    tall(3_000),
    tall(3_002),
    false,
    { options: { ...thousandth, fullPage: true }, pixels: 1_600, sizeChanged: true },
  ],
  [
    'a narrower window',
    document(''),
    document(''),
    true,
    { options: { blankPageAction: 'accept' }, more: { viewportWidth: 700 }, pixels: 60_000, sizeChanged: true },
  ],
  ['a masked clock', clock('12:00:01'), clock('12:59:59'), false, { options: { ...exact, maskSelectors: ['#clock'] }, pixels: 0 }],
  ['a clock', clock('12:00:01'), clock('12:59:59'), true, { options: exact }],
  [
    'an ignored clock',
    clock('12:00:01'),
    clock('12:59:59'),
    false,
    { options: { ...exact, compareIgnore: [{ selector: '#clock' }] }, pixels: 0 },
  ],
  [
    'an ignored region',
    clock('12:00:01'),
    clock('12:59:59'),
    false,
    { options: { ...exact, compareIgnore: [{ x: 590, y: 10, width: 180, height: 60 }] }, pixels: 0 },
  ],
  [
    'an ignored region beside the change',
    clock('12:00:01'),
    clock('12:59:59'),
    true,
    { options: { ...exact, compareIgnore: [{ x: 0, y: 0, width: 300, height: 60 }] } },
  ],
  [
    'an ignored element that moved',
    noticeOf(380),
    noticeOf(480),
    false,
    { options: { ...exact, compareIgnore: [{ selector: '#notice' }] }, pixels: 0 },
  ],
  [
    'an ignored element that is gone',
    noticeOf(400),
    article,
    false,
    { options: { ...exact, compareIgnore: [{ selector: '#notice' }] }, pixels: 0 },
  ],
  [
    'an ignored element that is new',
    article,
    noticeOf(400),
    false,
    { options: { ...exact, compareIgnore: [{ selector: '#notice' }] }, pixels: 0 },
  ],
  ['an element that is gone, if only the first capture ignored it', noticeOf(400), article, true, { options: exact, pixels: 16_000 }],
  [
    'an ignored element at twice the scale',
    clock('12:00:01'),
    clock('12:59:59'),
    false,
    { options: { ...exact, deviceScaleFactor: 2, compareIgnore: [{ selector: '#clock' }] }, pixels: 0 },
  ],
  [
    'an ignored element in a clipped picture',
    clock('12:00:01'),
    clock('12:59:59'),
    false,
    { options: { ...exact, clipX: 500, clipY: 0, clipWidth: 300, clipHeight: 100, compareIgnore: [{ selector: '#clock' }] }, pixels: 0 },
  ],
  [
    'a change at the end of a page of many strips',
    tall(4_000, redBox(600, 4_200, 30)),
    tall(4_000),
    true,
    { options: { ...exact, fullPage: true }, pixels: 900, regions: 1 },
  ],
  [
    'white on transparent',
    see('transparent', box('background:#fff;left:100px;top:100px;width:50px;height:50px')),
    see('transparent', box('background:#fff;left:300px;top:100px;width:50px;height:50px')),
    true,
    { options: { ...exact, omitBackground: true, blankPageAction: 'accept' }, pixels: 5_000 },
  ],
  ['the same page as jpeg', article, article, false, { options: { ...exact, format: 'jpeg' }, pixels: 0 }],
  ['a moved block as webp', red(600, 300, 120), red(600, 440, 120), true, { options: { format: 'webp' } }],
  ['gray pictures', shade('#202020'), shade('#e0e0e0'), true, { options: { imageGrayscale: true }, pixels: 60_000 }],
]

/** Pages of the pairs, by their paths. */
const documents = [...new Set(PAIRS.flatMap(([, before, after]) => [before, after]))]
const pathOf = (html: string): string => `/${documents.indexOf(html)}`
const stage = await openStage(t, Object.fromEntries(documents.map((html) => [pathOf(html), html])))
const earlier = new Map<string, Promise<Shot>>()

/** The earlier capture of a pair. Several pairs share one, because how pictures are compared does not change them. */
function takeBefore(html: string, options: CaptureOptions): Promise<Shot> {
  const { compareThreshold: _, compareColorTolerance: __, compareAntialiasing: ___, ...visible } = options
  const key = JSON.stringify([html, visible])
  const shot = earlier.get(key) ?? stage.shoot(pathOf(html), { ...SIZE, ...visible })
  earlier.set(key, shot)
  return shot
}

const laboratory = await openLaboratory(t)

// Neighbors in the list often lie on both sides of a rule, so `npm test` takes two and leaves out two.
const chosen = choose(PAIRS, (_, index) => index % 4 < 2)

for (const [name, first, second, changed, { options = {}, more = {}, pixels, sizeChanged = false, regions } = {}] of chosen) {
  t.test(`comparison of ${name} says ${changed ? 'changed' : 'unchanged'}`, async (t) => {
    const before = await takeBefore(first, options)
    const after = await stage.shoot(pathOf(second), { ...SIZE, ...options, ...more })
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
