import { type CaptureOptions, withDefaults } from '@tintype/crds/options/catalog'
import { MARKUP_URL } from '@tintype/crds/options/page/loading'
import t from 'tap'
import { STEPS } from '../../../../capture-runner/src/capture/run.ts'
import {
  buildPlan,
  type CapturePlan,
  DEFAULT_CONTEXT,
  formatOf,
  isAdaptable,
  withFrameControl,
} from '../../../../capture-runner/src/plan/plan.ts'
import { buildSyntax } from '../../../../capture-runner/src/plan/syntax.ts'
import { shortenWait, waitAsCompared } from '../../../../capture-runner/src/plan/waiting.ts'

const URL = 'https://example.com/'

t.test('buildPlan without options equals the documented defaults', async (t) => {
  t.match(buildPlan(URL, undefined), {
    url: URL,
    context: { viewport: { width: 1920, height: 1080 }, deviceScaleFactor: 1, colorScheme: 'light' },
    picture: { format: 'png', transparent: false, fullPage: false },
    options: { waitUntil: ['load'], timeout: 30_000, delay: 0 },
    warnings: [],
  })
})

const effects: readonly (readonly [options: CaptureOptions, changes: object])[] = [
  [
    { stabilityTimeout: 1_000, delay: 300 },
    {
      stabilityMilliseconds: 700,
      stabilityRealMilliseconds: 700,
      stabilityMaxMilliseconds: 8_000,
      stabilityPicturesMilliseconds: 1_100,
      endlessMilliseconds: 1_000,
    },
  ],
  // What appears on scroll begins to load after the delay.
  [
    { fullPage: true, stabilityTimeout: 1_000, delay: 3_000 },
    { stabilityMilliseconds: 1_000, endlessMilliseconds: 3_000 },
  ],
  [
    { compareTo: 'scr_00000000000000000000000000' },
    {
      stabilityMilliseconds: 2_000,
      stabilityRealMilliseconds: 15_000,
      stabilityMaxMilliseconds: 15_000,
      stabilityPicturesMilliseconds: 15_000,
    },
  ],
  [{ stabilityTimeout: 0, delay: 3_000 }, { endlessMilliseconds: undefined }],
  [{ format: 'jpeg' }, { picture: { format: 'jpeg', quality: 90 } }],
  [{ format: 'webp', imageQuality: 0 }, { picture: { format: 'webp', quality: 0 } }],
  [{ backgroundColor: 'red' }, { picture: { canvas: { r: 255, g: 0, b: 0, alpha: 1 } } }],
  [{ fullPage: true }, { picture: { fullPage: true } }],
  [{ waitForImages: true, timeout: 7_000 }, { imagesMilliseconds: 7_000 }],
  [{ offline: true, html: '<p>' }, { isOffline: true }],
  [{ preview: 'fit' }, { preview: { format: 'webp', maxSide: 1_568, maxBytes: 262_144, maxSlices: 1 } }],
  [{ preview: 'slices', previewFormat: 'jpeg', previewMaxSlices: 5 }, { preview: { format: 'jpeg', maxSlices: 5 } }],
  [
    {
      ...{
        device: 'iPhone 15 Pro',
        darkMode: true,
        omitBackground: true,
        waitForSelector: '#a',
        styles: 'a{}',
        scripts: '',
        hideSelectors: [],
      },
    },
    {
      context: {
        colorScheme: 'dark',
        viewport: { width: 393, height: 659 },
        deviceScaleFactor: 3,
        emulated: { mobile: true, touch: true },
      },
      picture: { transparent: true },
      options: { waitForSelector: '#a', waitForSelectorCount: 1, styles: 'a{}', scripts: undefined, hideSelectors: undefined },
    },
  ],
]

for (const [options, changes] of effects) {
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

t.test('buildPlan refuses the URL of markup when no markup is given', async (t) => {
  t.throws(() => buildPlan(MARKUP_URL, {}), { code: 'INVALID_OPTIONS' })
})

t.test('buildPlan lists options without effect', async (t) => {
  t.strictSame(buildPlan(URL, { imageQuality: 10 }).warnings, ['image_quality has no effect on png'])
  t.strictSame(buildPlan(URL, { fullPageMaxHeight: 2_000 }).warnings, ['full_page_max_height has no effect without full_page'])
  t.strictSame(buildPlan(URL, { format: 'jpeg', imageQuality: 10, fullPage: true, fullPageMaxHeight: 2_000 }).warnings, [])
})

t.test('isAdaptable is true for contexts that a prepared one can change to', async (t) => {
  t.ok(isAdaptable(DEFAULT_CONTEXT, DEFAULT_CONTEXT))
  t.ok(isAdaptable({ ...DEFAULT_CONTEXT, viewport: { width: 1, height: 1 }, colorScheme: 'dark' }, DEFAULT_CONTEXT))
  t.notOk(isAdaptable({ ...DEFAULT_CONTEXT, deviceScaleFactor: 2 }, DEFAULT_CONTEXT))
  t.notOk(isAdaptable({ ...DEFAULT_CONTEXT, emulated: { mobile: false, touch: true, userAgent: 'x' } }, DEFAULT_CONTEXT))
  const framed = withFrameControl(buildPlan(URL, { viewportWidth: 700 })).context
  t.notOk(isAdaptable(framed, DEFAULT_CONTEXT))
  t.ok(isAdaptable(framed, { ...DEFAULT_CONTEXT, frameControl: 'picture' }), 'a runner prepares others')
})

t.test('withFrameControl begins the frames of all pictures, and leaves videos as they are', async (t) => {
  t.equal(withFrameControl(buildPlan(URL, { device: 'iphone_15' })).context.frameControl, 'picture')
  const video = buildPlan(URL, { format: 'mp4' })
  t.equal(withFrameControl(video), video)
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

// Effects of the options for preparing, blocking, waiting and failing.

const plan = (options?: CaptureOptions) => buildPlan('https://a.example/', options)
/** Names of the steps that an option adds. */
const added = (options: CaptureOptions): string[] => {
  const usual = new Set(stepsOf({}))
  return stepsOf(options).filter((name) => !usual.has(name))
}
const stepsOf = (options: CaptureOptions): string[] =>
  STEPS.filter(({ isWanted }) => isWanted?.(plan(options)) ?? true).map(({ name }) => name)

const cases: [options: CaptureOptions, steps: string[]][] = [
  [
    {
      ...{ initScript: 'x', hideSelectors: ['p'], styleUrls: ['https://b.example/a.css'], scriptUrls: ['https://b.example/a.js'] },
      ...{ maskSelectors: ['p'], clickAll: 'p', hover: 'p', pressKey: 'Escape', scrollIntoView: 'p', waitForSelectorGone: 'p' },
      ...{ waitForFunction: 'true', domIdleTime: 100, failOnStatus: ['404'], failOnRedirect: 'always' },
      ...{ failIfContentContains: ['x'], failIfRequestFailed: ['*'], failOnBotChallenge: true },
    },
    [
      ...['checkSyntax', 'initScript', 'watchPage', 'loadFiles', 'checkResponse', 'styles', 'scripts', 'clickAll', 'hover', 'pressKey'],
      ...['waitForSelector', 'waitForFunction', 'placeWindow', 'domIdle', 'renewEffects', 'checkContent', 'mask', 'redact'],
    ],
  ],
  [{ scrollY: 1 }, ['placeWindow']],
  [{ compareIgnore: [{ selector: 'p' }] }, ['checkSyntax', 'ignoredElements']],
  [{ compareIgnore: [{ x: 0, y: 0, width: 1, height: 1 }] }, []],
  [{ pageZoom: 2 }, []],
  [{ blockAds: true }, ['holdRequests', 'hideUnwanted', 'hideLatecomers']],
  [{ blockCookieBanners: true }, ['consent', 'hideUnwanted', 'hideLatecomers']],
  [{ blockCookieBanners: true, cookieBannerAction: 'hide' }, ['holdRequests', 'hideUnwanted', 'hideLatecomers']],
  [{ blockBannersByHeuristics: true }, ['hideUnwanted', 'hideLatecomers']],
  [{ blockServiceWorkers: true }, ['holdRequests']],
  [{ allowRequests: ['*'] }, []],
  [{ saveMarkdown: true }, ['lateFiles']],
  [{ saveLinks: true, saveText: true, maskSelectors: ['p'] }, ['checkSyntax', 'mask', 'redact', 'lateFiles']],
  [{ preview: 'fit' }, ['preview']],
  [{ previewMaxSide: 1_000 }, []],
]
for (const [options, steps] of cases) {
  t.test(`${JSON.stringify(options)} adds ${steps.length === 0 ? 'no step' : steps.join(', ')}`, async (t) => {
    t.strictSame(added(options), steps)
  })
}

t.test('stillPage stops endless animations, but not in a video or without the wait for stability', async (t) => {
  const isStopped = (options: CaptureOptions) => stepsOf(options).includes('stillPage')
  for (const how of [{}, { disableAnimations: true, stabilityTimeout: 0 }, { pauseVideos: true, format: 'mp4' } as const])
    t.ok(isStopped(how))
  for (const how of [{ stabilityTimeout: 0 }, { format: 'mp4' } as const]) t.notOk(isStopped(how))
})

t.test('buildPlan does not block the banner’s script if the banner must be accepted or rejected', async (t) => {
  t.equal(plan({ blockCookieBanners: true }).requestRules, undefined)
  t.strictSame(plan({ blockCookieBanners: true, blockAds: true }).requestRules?.engines, ['ads'])
  t.strictSame(plan({ blockCookieBanners: true, cookieBannerAction: 'hide' }).requestRules?.engines, ['banners'])
})

const syntaxOf = (options: CaptureOptions) => buildSyntax(withDefaults(options)).syntax

t.test('buildSyntax has nothing to read without selectors, scripts and styles', async (t) => {
  t.equal(syntaxOf({ fullPage: true, fullPageScrollContainer: 'auto' }), undefined)
})

t.test('buildSyntax reads selectors under the names that requests have for them', async (t) => {
  t.strictSame(syntaxOf({ fullPage: true, fullPageScrollContainer: 'main', hideSelectors: ['p', 'b'] })?.selectors, [
    { option: 'hide_selectors[0]', text: 'p', isRule: true },
    { option: 'hide_selectors[1]', text: 'b', isRule: true },
    { option: 'full_page_scroll_container', text: 'main', isRule: false },
  ])
})

t.test('buildSyntax reads header and footer of a pdf, and of nothing else', async (t) => {
  const templates = { pdfHeaderTemplate: '<b></b>', pdfFooterTemplate: '<i></i>' }
  t.strictSame(syntaxOf({ format: 'pdf', ...templates })?.templates, [
    { option: 'pdf_header_template', text: '<b></b>' },
    { option: 'pdf_footer_template', text: '<i></i>' },
  ])
  t.equal(syntaxOf({ format: 'png', ...templates }), undefined)
})

t.test('buildPlan has a video with the defaults of its options', async (t) => {
  const built = plan({ format: 'mp4' })
  t.strictSame(built.video, {
    format: 'mp4',
    fps: 30,
    frames: 150,
    quality: 70,
    timing: 'exact',
    source: { width: 1920, height: 1080 },
    size: { width: 1920, height: 1080 },
    poster: false,
  })
  t.strictSame([built, plan({ format: 'webp' })].map(formatOf), ['mp4', 'webp'])
  t.equal(built.context.frameControl, 'video')
})

t.test('buildPlan computes the size of the file', async (t) => {
  const sizeOf = (options: CaptureOptions) => Object.values(plan({ format: 'mp4', ...options }).video?.size ?? {})
  t.strictSame(sizeOf({ viewportWidth: 333, viewportHeight: 201 }), [334, 202], 'a movie has even sides')
  t.strictSame(sizeOf({ viewportWidth: 333, viewportHeight: 201, format: 'gif' }), [333, 201])
  t.strictSame(sizeOf({ videoWidth: 640 }), [640, 360])
  t.strictSame(sizeOf({ viewportWidth: 800, viewportHeight: 600, deviceScaleFactor: 2 }), [1600, 1200])
  t.strictSame(sizeOf({ viewportWidth: 3000, viewportHeight: 100, videoWidth: 64 }), [64, 2])
})

t.test('buildPlan has the times of a scroll', async (t) => {
  t.equal(plan({ format: 'webm' }).video?.scroll, undefined)
  const scroll: CaptureOptions = { format: 'webm', videoScenario: 'scroll' }
  t.strictSame(plan(scroll).video?.scroll, { pause: 500, scroll: 4_000, back: false, easing: 'ease_in_out' })
  t.match(plan({ ...scroll, videoScrollBack: true, videoScrollEasing: 'linear' }).video?.scroll, { scroll: 2_000, easing: 'linear' })
})

t.test('buildPlan lowers the frames of a gif that players would show slowly', async (t) => {
  const built = plan({ format: 'gif', videoFps: 60, videoDuration: 2 })
  t.match(built.video, { fps: 50, frames: 100 })
  t.match(built.warnings, [/^video_fps is 50/])
  t.strictSame(plan({ format: 'mp4', videoFps: 60 }).warnings, [])
})

t.test('a video records instead of taking a screenshot, and waits for no stable page', async (t) => {
  const [still, moving] = [stepsOf({}), stepsOf({ format: 'mp4' })]
  t.strictSame(
    still.filter((name) => !moving.includes(name)),
    ['stability', 'stillPage', 'screenshot'],
  )
  t.strictSame(
    moving.filter((name) => !still.includes(name)),
    ['muteMedia', 'record'],
  )
  t.notOk(stepsOf({ format: 'mp4', videoTiming: 'real' }).includes('muteMedia'), 'a page in real time may play its sound')
})
