import { newId } from '@tintype/crds/identifiers/ids'
import type { CaptureOptions } from '@tintype/crds/options/catalog'
import sharp from 'sharp'
import t from 'tap'
import { capture } from '../../../../capture-runner/src/capture/capture.ts'
import { type CaptureOrder, CaptureOrder as OrderSchema } from '../../../../crds/src/dispatch/dispatch.ts'
import type { CaptureResult } from '../../../../crds/src/kinds/screenshot.ts'
import { artifactsOf } from '../../../../crds/src/options/artifacts.ts'
import { objectKey } from '../../../../crds/src/records/storage-keys.ts'
import { openBucket } from '../../capture-runner/stage/bucket.ts'
import { anOrder, partsOf } from '../../capture-runner/stage/orders.ts'
import { openStage } from '../options.ts'

// Comparisons from the order to the stored files, with a real browser and a real store.

const document = (body: string): string => `<!doctype html><title>Page</title><body style="margin:0;background:#fff">${body}</body>`
const square = (side: number, color = '#d00', left = 100): string =>
  document(
    `<h1>Page</h1><div id="square" style="position:absolute;left:${left}px;top:200px;width:${side}px;height:${side}px;background:${color}"></div>`,
  )
const WORDS = 'The quick brown fox jumps over the lazy dog, and then it sleeps under an old oak tree until the sun comes up. '
const text = (offset: number): string =>
  document(
    `<div style="margin:20px;padding-left:${offset}px"><h1 style="font:40px serif">News of the day</h1><p style="font:18px/1.5 sans-serif;width:560px">${WORDS.repeat(4)}</p></div>`,
  )

let [hiccups, visits] = [0, 0]

const [bucket, stage] = await Promise.all([
  openBucket(t),
  openStage(t, {
    '/small': square(20),
    '/moved': square(20, '#d00', 300),
    '/large': square(60),
    '/pale': square(60, '#d01818'),
    '/plain': document('<h1>Page</h1>'),
    '/smooth': document('<svg width="700" height="500"><circle cx="250" cy="250" r="150"/></svg>'),
    '/smoother': document('<svg width="700" height="500"><circle cx="250.3" cy="250" r="150"/></svg>'),
    '/text': text(0),
    '/text-beside': text(0.3),
    '/empty': document(''),
    '/hiccup': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(++hiccups === 2 ? square(60) : square(20))
    },
    '/missing': (_, response) => void response.writeHead(404, { 'content-type': 'text/html' }).end(square(60)),
    '/price': (_, response) => {
      const body = `<p>Price ${visits++ === 0 ? '19.50' : '99.50'} <b id="clock">${visits}</b></p>`
      response.writeHead(200, { 'content-type': 'text/html' }).end(document(body))
    },
    '/challenge': '<!doctype html><title>Just a moment...</title><h1>Checking your browser</h1>',
  }),
])
const parts = partsOf(stage)

interface Shot {
  id: string
  result: CaptureResult
}

/** Captures a page like a runner. `to`: the screenshot to compare with. */
async function shoot(path: string, options: CaptureOptions = {}, to?: Shot, baseline?: CaptureOrder['baseline']): Promise<Shot> {
  const id = newId('scr', new Date())
  const chosen: CaptureOptions = { viewportWidth: 600, viewportHeight: 400, ...options, ...(to ? { compareTo: to.id } : {}) }
  const uploadOf = (extension: string) => bucket.uploadOf(objectKey('default', id, extension))
  const text = to?.result.artifacts?.find(({ type }) => type === 'text')
  const ofTo = to && {
    ...bucket.baselineOf(objectKey('default', to.id, 'png'), to.result.etag ?? ''),
    ...(to.result.ignored ? { ignored: to.result.ignored } : {}),
    engine: to.result.engine,
    ...(text ? { text: bucket.baselineOf(objectKey('default', to.id, 'txt'), text.etag) } : {}),
  }
  const used = baseline ?? ofTo
  const artifacts = artifactsOf(chosen).map(({ type, extension }) => ({ type, upload: uploadOf(extension) }))
  const order = { uid: id, name: id, url: stage.site.url(path), options: chosen, upload: uploadOf('png'), artifacts }
  const given = OrderSchema.parse(anOrder({ ...order, ...(used ? { baseline: used } : {}) }))
  const { outcome } = await capture(given, parts, AbortSignal.timeout(60_000))
  return { id, result: outcome.result }
}

const [small, plain] = [await shoot('/small'), await shoot('/plain')]

t.test('option compare_to: stores the comparison, and a picture of the differences', async (t) => {
  t.notOk('comparison' in small.result, 'the first capture has nothing to compare with')
  const { id, result } = await shoot('/large', {}, small)
  const pixels = 60 * 60 - 20 * 20
  t.match(result.comparison, { changed: true, changedPixels: pixels, changedRatio: pixels / 240_000, sizeChanged: false })
  t.strictSame(result.comparison?.regions, [{ x: 100, y: 200, width: 60, height: 60 }])
  t.match(result.timings, { compare: Number })
  t.match(result.artifacts, [{ type: 'diff' }, { type: 'text' }])
  const diff = await bucket.read(objectKey('default', id, 'diff.png'))
  t.equal(diff?.etag, result.artifacts?.[0]?.etag)
  const { data, info } = await sharp(diff!.bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => [...data.subarray((y * info.width + x) * 3, (y * info.width + x) * 3 + 3)]
  t.same([info.width, info.height], [600, 400])
  t.strictSame(at(150, 250), [230, 0, 60], 'red where it changed')
  t.strictSame(at(500, 350), [255, 255, 255], 'the page in pale gray elsewhere')
})

t.test('a page that looked different once raised a false alarm', async (t) => {
  const first = await shoot('/hiccup')
  const { id, result } = await shoot('/hiccup', {}, first)
  t.match(result.comparison, { changed: false, changedPixels: 0 })
  t.match(
    result.artifacts?.map(({ type }) => type),
    ['text'],
  )
  t.match(result.warnings, [/a second one did not/, /words were not compared/])
  t.equal(result.etag, first.result.etag, 'the picture of the page as it usually is')
  t.equal((await bucket.read(objectKey('default', id, 'png')))?.etag, result.etag)
})

t.test('option compare_to: an unchanged page has no picture of the differences', async (t) => {
  const { id, result } = await shoot('/small', {}, small)
  t.match(result.comparison, { changed: false, changedPixels: 0, changedRatio: 0, regions: [] })
  t.strictSame(
    result.artifacts?.map(({ type }) => type),
    ['text'],
  )
  t.equal(await bucket.read(objectKey('default', id, 'diff.png')), undefined)
})

t.test('option compare_to: a file that is gone or was replaced fails the capture', async (t) => {
  const gone = await shoot('/small')
  await bucket.remove(objectKey('default', gone.id, 'png'))
  const missing = await shoot('/small', {}, gone)
  t.strictSame(missing.result.error, { code: 'BASELINE_NOT_FOUND', message: 'the file of compare_to no longer exists, or was replaced' })
  const replaced = await shoot('/small', {}, undefined, bucket.baselineOf(objectKey('default', small.id, 'png'), '0'.repeat(32)))
  t.equal(replaced.result.error?.code, 'BASELINE_NOT_FOUND')
  const tooLarge = { ...bucket.baselineOf(objectKey('default', small.id, 'png'), small.result.etag ?? ''), maxBytes: 100 }
  t.match((await shoot('/small', {}, undefined, tooLarge)).result.error, { code: 'BASELINE_NOT_FOUND', message: /more than 100 bytes/ })
})

t.test('option compare_threshold: share of changed pixels above which the picture counts as changed', async (t) => {
  const share = (60 * 60 - 20 * 20) / 240_000
  t.equal((await shoot('/large', { compareThreshold: share }, small)).result.comparison?.changed, false)
  t.equal((await shoot('/large', { compareThreshold: share - 0.0001 }, small)).result.comparison?.changed, true)
})

t.test('option compare_color_tolerance: difference up to which colors count as equal', async (t) => {
  const large = await shoot('/large')
  t.match((await shoot('/pale', { compareColorTolerance: 0.11 }, large)).result.comparison, { changed: false, changedPixels: 0 })
  t.match((await shoot('/pale', { compareColorTolerance: 0 }, large)).result.comparison, { changedPixels: 3_600 })
  t.match((await shoot('/pale', {}, large)).result.comparison, { changed: true, rule: 'color' }, 'a large area')
})

t.test('option compare_antialiasing: whether smoothed edges count', async (t) => {
  const smooth = await shoot('/smooth', { viewportHeight: 500 })
  const tolerant = (await shoot('/smoother', { viewportHeight: 500, compareThreshold: 0 }, smooth)).result.comparison
  const strict = (await shoot('/smoother', { viewportHeight: 500, compareThreshold: 0, compareAntialiasing: true }, smooth)).result
    .comparison
  t.match([tolerant?.changed, strict?.changed], [false, true])
  const size = { viewportWidth: 800, viewportHeight: 600 }
  const beside = await shoot('/text-beside', { ...size, compareThreshold: 0.01 }, await shoot('/text', size))
  t.match(beside.result.comparison, { changed: false }, 'text that is smoothed at another offset')
})

t.test('option compare_ignore: stores where the elements were, and ignores them after they are gone', async (t) => {
  const compareIgnore = [{ selector: '#square' }]
  const first = await shoot('/small', { compareIgnore })
  t.strictSame(first.result.ignored, [{ selector: '#square', boxes: [{ x: 100, y: 200, width: 20, height: 20 }] }])
  const { result } = await shoot('/plain', { compareThreshold: 0, compareIgnore }, first)
  t.match(result, { comparison: { changed: false, changedPixels: 0 }, ignored: [{ boxes: [] }] })
  t.match(result.warnings, ['compare_ignore matched no visible element: #square', /words were not compared/])
  t.match((await shoot('/small', { compareThreshold: 0 }, plain)).result.comparison, { changed: true, changedPixels: 400 }, 'control')
  const region = [{ x: 90, y: 190, width: 100, height: 100 }]
  t.match((await shoot('/small', { compareThreshold: 0, compareIgnore: region }, plain)).result.comparison, { changedPixels: 0 })
  t.match((await shoot('/small', { compareIgnore: [{ selector: '!' }] })).result.error, {
    code: 'INVALID_SELECTOR',
    message: /compare_ignore/,
  })
})

t.test('option compare_ignore: ignores elements wherever they are, if the later capture asks for it', async (t) => {
  const compareIgnore = [{ selector: '#square' }]
  const cases: [what: string, before: string, after: string, options?: CaptureOptions][] = [
    ['an element that moved', '/small', '/moved'],
    ['an element that is new', '/plain', '/small'],
    ['at twice the scale', '/small', '/large', { deviceScaleFactor: 2 }],
    ['in a part of the page', '/small', '/large', { clipX: 50, clipY: 150, clipWidth: 300, clipHeight: 200 }],
  ]
  for (const [what, before, after, options] of cases) {
    const first = await shoot(before, { ...options, compareIgnore })
    const { result } = await shoot(after, { ...options, compareIgnore, compareThreshold: 0 }, first)
    t.match(result.comparison, { changed: false, changedPixels: 0 }, what)
  }
  const { result } = await shoot('/plain', { compareThreshold: 0 }, await shoot('/small', { compareIgnore }))
  t.match(result.comparison, { changed: true, changedPixels: 400 }, 'only the first capture asked for it')
})

t.test('a picture of one color or of a bot challenge is not compared', async (t) => {
  const blank = await shoot('/empty', {}, small)
  t.strictSame(blank.result.comparison, { changed: false, skipped: 'blank' })
  t.equal(blank.result.unfit, 'blank')
  const challenged = await shoot('/challenge', {}, small)
  t.strictSame(challenged.result.comparison, { changed: false, skipped: 'bot_challenge' })
  const accepted = await shoot('/empty', { blankPageAction: 'accept' }, small)
  t.match(accepted.result.comparison, { changed: true }, 'control: accept one color')
  t.notOk('unfit' in accepted.result)
})

t.test('option compare_accept_status: error pages with these statuses are compared', async (t) => {
  const first = await shoot('/missing')
  t.match(first.result, { unfit: 'http_error', httpStatus: 404 })
  t.strictSame((await shoot('/missing', {}, small)).result.comparison, { changed: false, skipped: 'http_error' })
  const compareAcceptStatus = ['400-499']
  const accepted = await shoot('/missing', { compareAcceptStatus }, small)
  t.match(accepted.result, { comparison: { changed: true, loads: 2 } })
  t.notOk('unfit' in accepted.result)
})

t.test('a price that changed is named by its words', async (t) => {
  const first = await shoot('/price', { saveText: true, compareIgnore: [{ selector: '#clock' }] })
  const { id, result } = await shoot('/price', { compareIgnore: [{ selector: '#clock' }] }, first)
  t.match(result.comparison, { changed: true, textChanged: true, wordsAdded: ['99.50'], wordsRemoved: ['19.50'] })
  const stored = await bucket.read(objectKey('default', id, 'txt'))
  t.equal(String(stored?.bytes).trim(), 'Price 99.50', 'without the ignored clock')
  t.match(result.engine, { chromium: String, architecture: process.arch, fonts: /^[0-9a-f]{16}$/ })
})

t.test('a capture that fails has no comparison', async (t) => {
  const { result } = await shoot('/challenge', { failOnBotChallenge: true }, small)
  t.match(result, { error: { code: 'BOT_CHALLENGE' } })
  t.notOk('comparison' in result)
})
