import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { MARKUP_URL } from '@tintype/crds/options/page/source'
import t from 'tap'
import {
  buildPlan,
  type CapturePlan,
  DEFAULT_CONTEXT,
  formatOf,
  isAdaptable,
  withFrameControl,
} from '../../../../capture-runner/src/plan/plan.ts'
import { shortenWait, waitAsCompared } from '../../../../capture-runner/src/plan/waiting.ts'

const URL = 'https://example.com/'

t.test('buildPlan without options equals the documented defaults', async (t) => {
  t.match(buildPlan(URL, undefined), {
    url: URL,
    context: { viewport: { width: 1920, height: 1080 }, deviceScaleFactor: 1, colorScheme: 'light' },
    picture: { format: 'png', transparent: false, fullPage: false, maxHeight: 25_000 },
    states: ['load'],
    timeoutMilliseconds: 30_000,
    delayMilliseconds: 0,
    warnings: [],
  })
})

const effects: { options: CaptureOptions; changes: object }[] = [
  { options: { viewportWidth: 320, viewportHeight: 640 }, changes: { context: { viewport: { width: 320, height: 640 } } } },
  {
    options: { stabilityTimeout: 1_000, delay: 300 },
    changes: {
      stabilityMilliseconds: 700,
      stabilityRealMilliseconds: 700,
      stabilityMaxMilliseconds: 8_000,
      stabilityPicturesMilliseconds: 1_100,
      endlessMilliseconds: 1_000,
    },
  },
  // What appears on scroll begins to load after the delay.
  {
    options: { fullPage: true, stabilityTimeout: 1_000, delay: 3_000 },
    changes: { stabilityMilliseconds: 1_000, delayMilliseconds: 3_000, endlessMilliseconds: 3_000 },
  },
  {
    options: { compareTo: 'scr_00000000000000000000000000' },
    changes: {
      stabilityMilliseconds: 2_000,
      stabilityRealMilliseconds: 15_000,
      stabilityMaxMilliseconds: 15_000,
      stabilityPicturesMilliseconds: 15_000,
    },
  },
  { options: { stabilityTimeout: 0, delay: 3_000 }, changes: { endlessMilliseconds: undefined } },
  { options: { deviceScaleFactor: 2 }, changes: { context: { deviceScaleFactor: 2 } } },
  {
    options: { device: 'iPhone 15 Pro' },
    changes: { context: { viewport: { width: 393, height: 659 }, deviceScaleFactor: 3, emulated: { mobile: true, touch: true } } },
  },
  { options: { darkMode: true }, changes: { context: { colorScheme: 'dark' } } },
  { options: { format: 'jpeg' }, changes: { picture: { format: 'jpeg', quality: 90 } } },
  { options: { format: 'webp', imageQuality: 0 }, changes: { picture: { format: 'webp', quality: 0 } } },
  { options: { omitBackground: true }, changes: { picture: { transparent: true } } },
  { options: { backgroundColor: 'red' }, changes: { picture: { canvas: { r: 255, g: 0, b: 0, alpha: 1 } } } },
  { options: { fullPage: true, fullPageMaxHeight: 1_000 }, changes: { picture: { fullPage: true, maxHeight: 1_000 }, warnings: [] } },
  { options: { delay: 5 }, changes: { delayMilliseconds: 5 } },
  { options: { timeout: 1_000 }, changes: { timeoutMilliseconds: 1_000 } },
  { options: { waitForSelector: '#a' }, changes: { waitForSelector: { selector: '#a', isVisible: true, count: 1 } } },
  { options: { waitUntil: ['commit', 'networkidle'] }, changes: { states: ['commit', 'networkidle'] } },
  { options: { styles: 'a{}' }, changes: { styles: 'a{}' } },
  { options: { waitForImages: true, timeout: 7_000 }, changes: { imagesMilliseconds: 7_000 } },
  { options: { offline: true, html: '<p>' }, changes: { isOffline: true } },
  { options: { scripts: '1' }, changes: { scripts: '1' } },
  { options: { scripts: '1', scriptsWaitUntil: ['load'] }, changes: { scriptsStates: ['load'] } },
  { options: { click: '#b' }, changes: { click: { selector: '#b', isNeeded: true } } },
]

for (const { options, changes } of effects) {
  t.test(`buildPlan applies ${Object.keys(options).join(' and ')}`, async (t) => {
    t.match(buildPlan(URL, options), changes)
    t.notSame(buildPlan(URL, options), buildPlan(URL, undefined))
  })
}

t.test('buildPlan rejects a window that is too large with its device’s pixel ratio', async (t) => {
  const window = { viewportWidth: 7_680, viewportHeight: 7_680 }
  t.throws(() => buildPlan(URL, { ...window, device: 'iPhone 15 Pro' }), { code: 'TOO_LARGE' })
  t.doesNotThrow(() => buildPlan(URL, { ...window, device: 'iPhone 15 Pro', deviceScaleFactor: 1 }))
})

t.test('buildPlan rejects contradictory options', async (t) => {
  t.throws(() => buildPlan(URL, { omitBackground: true, format: 'jpeg' }), { code: 'INVALID_OPTIONS' })
})

t.test('formatOf is the format of the file, not that of the frames of a video', async (t) => {
  t.equal(formatOf(buildPlan(URL, { format: 'gif' })), 'gif')
  t.equal(formatOf(buildPlan(URL, { format: 'pdf' })), 'pdf')
})

t.test('buildPlan refuses the URL of markup when no markup is given', async (t) => {
  t.throws(() => buildPlan(MARKUP_URL, {}), { code: 'INVALID_OPTIONS' })
})

t.test('buildPlan lists options without effect', async (t) => {
  t.strictSame(buildPlan(URL, { imageQuality: 10 }).warnings, ['image_quality has no effect on png'])
  t.strictSame(buildPlan(URL, { fullPageMaxHeight: 2_000 }).warnings, ['full_page_max_height has no effect without full_page'])
  t.strictSame(buildPlan(URL, { format: 'jpeg', imageQuality: 10, fullPage: true, fullPageMaxHeight: 2_000 }).warnings, [])
})

t.test('isAdaptable is true for contexts that a prepared one can change to', async (t) => {
  t.ok(isAdaptable(DEFAULT_CONTEXT))
  t.ok(isAdaptable({ ...DEFAULT_CONTEXT, viewport: { width: 1, height: 1 }, colorScheme: 'dark' }))
  t.notOk(isAdaptable({ ...DEFAULT_CONTEXT, deviceScaleFactor: 2 }))
  t.notOk(isAdaptable({ ...DEFAULT_CONTEXT, emulated: { mobile: false, touch: true, userAgent: 'x' } }))
})

t.test('withFrameControl begins the frames of all pictures, and leaves videos as they are', async (t) => {
  t.equal(withFrameControl(buildPlan(URL, { device: 'iphone_15' })).context.frameControl, 'picture')
  const video = buildPlan(URL, { format: 'mp4' })
  t.equal(withFrameControl(video), video)
})

t.test('isAdaptable compares with the contexts that a runner prepares', async (t) => {
  const framed = withFrameControl(buildPlan(URL, { viewportWidth: 700 })).context
  t.notOk(isAdaptable(framed))
  t.ok(isAdaptable(framed, { ...DEFAULT_CONTEXT, frameControl: 'picture' }))
})

t.test('a plan whose steps need Playwright’s page needs a Playwright context', async (t) => {
  for (const options of [{ pressKey: 'Enter' }, { failOnPageError: true }]) {
    const { context } = buildPlan(URL, options)
    t.equal(context.needsPlaywright, true)
    t.notOk(isAdaptable(context))
  }
  t.notOk('needsPlaywright' in buildPlan(URL, { pressKey: '', failOnPageError: false }).context)
})

/** The part of the wait that a comparison makes longer. */
const waitingOf = ({
  stabilityRealMilliseconds,
  stabilityMaxMilliseconds,
  stabilityPicturesMilliseconds,
  isStabilityTelling,
}: CapturePlan) => ({
  ...{ stabilityRealMilliseconds, stabilityMaxMilliseconds, stabilityPicturesMilliseconds, isStabilityTelling },
})

t.test('the wait for a page that never rests is short from the second run on', async (t) => {
  const compared = buildPlan(URL, { compareTo: 'scr_00000000000000000000000000' })
  t.equal(compared.isStabilityTelling, true)
  t.equal(shortenWait(compared, undefined), compared)
  t.equal(shortenWait(compared, { elements: ['#ticker'] }), compared, 'what else moves is waited for')
  t.match(shortenWait(compared, { elements: [], isEndless: true }), {
    ...{ stabilityRealMilliseconds: 1_000, stabilityMaxMilliseconds: 1_000, stabilityPicturesMilliseconds: 1_000 },
  })
  t.strictSame(
    waitAsCompared(buildPlan(URL, {})),
    { ...buildPlan(URL, {}), ...waitingOf(compared) },
    'of the first run, which is not compared',
  )
  const brief = buildPlan(URL, { stabilityTimeout: 500 })
  t.equal(shortenWait(brief, { elements: [], isEndless: true }).stabilityRealMilliseconds, 500)
})
