import { devices as playwrightDevices } from 'playwright'
import t from 'tap'
import { artifactsOf, thumbnailFormat } from '../../../../crds/src/options/artifacts.ts'
import { CaptureOptions, captureDefaults, withDefaults } from '../../../../crds/src/options/catalog.ts'
import type { AllOptions } from '../../../../crds/src/options/conditions.ts'
import { contradictions, maxViewportPixels, windowPixels } from '../../../../crds/src/options/contradictions.ts'
import { optionsByName } from '../../../../crds/src/options/groups.ts'
import { isStoragePath } from '../../../../crds/src/options/output/delivery.ts'
import {
  framesOf,
  ImageFormat,
  isMoving,
  isScrollWithinVideo,
  MovingFormat,
  StillFormat,
  scrollPlanOf,
} from '../../../../crds/src/options/output/formats.ts'
import { DEVICES, findDevice, isFixedTime, toDeviceId } from '../../../../crds/src/options/page/browser.ts'
import { DEFAULT_OPTION_POLICY, findForbidden, OptionPolicyText, toForbiddenMessage } from '../../../../crds/src/options/policy.ts'
import { privateOptionNames } from '../../../../crds/src/options/private.ts'
import { flag, group, isRefusedInLinks, off, PICTURE } from '../../../../crds/src/options/rules/declare.ts'
import { findWarnings, warnings } from '../../../../crds/src/options/warnings.ts'
import { parseObjectKey } from '../../../../crds/src/records/storage-keys.ts'
import { assertAccepts, assertEvery } from '../../../support/accepts.ts'
import { CONTRADICTION_CASES } from '../../../support/sources/contradiction-cases.ts'

t.test('artifactsOf returns only the files that the options request', async (t) => {
  t.strictSame(artifactsOf(undefined), [])
  t.strictSame(artifactsOf({ saveHtml: false, format: 'webp' }), [])
  t.match(artifactsOf({ thumbnailWidth: 100, format: 'webp', saveHar: true }), [
    { type: 'thumbnail', extension: 'thumb.webp', contentType: 'image/webp' },
    { type: 'har', extension: 'har', contentType: 'application/json' },
  ])
  t.match(artifactsOf({ preview: 'slices', previewFormat: 'jpeg', format: 'avif' }), [{ type: 'preview', extension: 'preview.jpeg' }])
  t.strictSame(artifactsOf({ preview: 'slices', format: 'pdf' }), [])
})

const everything = {
  ...{ thumbnailWidth: 100, saveHtml: true, saveText: true, saveMhtml: true },
  ...{ saveHar: true, saveConsole: true, saveAccessibilityTree: true, videoPoster: true },
  ...{ saveMarkdown: true, saveLinks: true, preview: 'fit' as const },
}

t.test('artifactsOf gives every file a unique key that downloads accept', async (t) => {
  const extensions = ['png', ...artifactsOf(everything).map(({ extension }) => extension)]
  t.equal(new Set(extensions).size, 12)
  const id = 'scr_0123456789abcdefghjkmnpqrs'
  for (const extension of extensions) t.match(parseObjectKey(`users/acme/${id}.${extension}`), { id, extension })
})

t.test('thumbnailFormat is the picture’s format if thumbnails support it', async (t) => {
  t.equal(thumbnailFormat({ thumbnailWidth: 100 }), 'png')
  t.equal(thumbnailFormat({ thumbnailHeight: 100, format: 'avif' }), 'webp')
  t.equal(thumbnailFormat({ thumbnailHeight: 100, format: 'avif', thumbnailFormat: 'jpeg' }), 'jpeg')
  t.equal(thumbnailFormat({ thumbnailFormat: 'jpeg' }), undefined)
  t.equal(thumbnailFormat({ thumbnailWidth: 100, format: 'pdf' }), undefined)
})

t.test('a video has a poster and no thumbnail', async (t) => {
  t.equal(thumbnailFormat({ thumbnailWidth: 100, format: 'mp4' }), undefined)
  t.match(artifactsOf({ format: 'mp4', videoPoster: true }), [{ type: 'poster', extension: 'poster.jpeg', contentType: 'image/jpeg' }])
})

t.test('contradictions hold in their own cases only', async (t) => {
  const found = CONTRADICTION_CASES.map(({ options }) => ({
    options,
    contradicts: contradictions.filter((contradiction) => contradiction.holds(options)).map(({ code }) => code),
  }))
  t.strictSame(found, CONTRADICTION_CASES)
  const covered = new Set(CONTRADICTION_CASES.flatMap(({ contradicts }) => contradicts))
  assertEvery(t, contradictions, ({ code }) => covered.has(code), 'each has a case')
})

t.test('isStoragePath accepts paths inside the bucket with known names in braces', async (t) => {
  const refused = ['', '/a', 'a/', 'a//b', '.', '..', 'a/../b', './a', '{url}', '{id', 'id}', '{{id}}', '{}']
  assertAccepts(t, isStoragePath, ['a', 'a/b.png', '{id}', '{host}/{date}/{id}.{format}', 'a..b/.c'], refused)
})

t.test('isMoving is true for the formats of videos only', async (t) => {
  const others = [...ImageFormat.options, ...StillFormat.options, undefined, 'toString']
  assertAccepts<string | undefined>(t, isMoving, MovingFormat.options, others)
})

t.test('framesOf applies the defaults, and is 0 for a screenshot', async (t) => {
  t.equal(framesOf(withDefaults({ format: 'mp4' })), 150)
  t.equal(framesOf(withDefaults({ format: 'gif', videoDuration: 3, videoFps: 10 })), 30)
  t.equal(framesOf(withDefaults({ videoDuration: 3 })), 0)
})

const scrollOf = (options: CaptureOptions) => scrollPlanOf(withDefaults(options))

t.test('scrollPlanOf uses what the pauses leave of the video', async (t) => {
  t.strictSame(scrollOf({}), { pause: 500, scroll: 4_000, back: false })
  t.strictSame(scrollOf({ videoDuration: 10, videoScrollBack: true, videoScrollPause: 0 }), { pause: 0, scroll: 5_000, back: true })
  t.strictSame(scrollOf({ videoScrollDuration: 1_000, videoScrollPause: undefined }), { pause: 500, scroll: 1_000, back: false })
})

t.test('isScrollWithinVideo is false if the pauses leave less than 100 ms for a scroll', async (t) => {
  t.ok(isScrollWithinVideo(withDefaults({ videoDuration: 1, videoScrollPause: 450 })))
  t.notOk(isScrollWithinVideo(withDefaults({ videoDuration: 1, videoScrollPause: 451 })))
})

t.test('a video can show every device', async (t) => {
  assertEvery(t, DEVICES, ({ name }) => windowPixels({ device: name }) <= maxViewportPixels('mp4'))
})

t.test('the device list equals the list of the installed playwright', async (t) => {
  const fromPlaywright = Object.entries(playwrightDevices).map(
    ([name, { viewport, deviceScaleFactor, isMobile, hasTouch, userAgent }]) => ({
      name,
      ...viewport,
      scale: deviceScaleFactor,
      mobile: isMobile,
      touch: hasTouch,
      userAgent,
    }),
  )
  t.strictSame(JSON.parse(JSON.stringify(DEVICES)), fromPlaywright, 'run capture-runner/generate-devices.ts')
})

t.test('every device has a unique id, and findDevice finds it by that id', async (t) => {
  assertEvery(t, DEVICES, (device) => findDevice(toDeviceId(device.name)) === device)
})

t.test('findDevice ignores case and separators', async (t) => {
  for (const name of ['iPhone 15 Pro', 'iphone_15_pro', 'IPHONE-15-PRO', 'iphone15pro']) t.equal(findDevice(name)?.name, 'iPhone 15 Pro')
  t.not(findDevice('Galaxy S9+'), undefined)
  t.equal(findDevice('iPhone 99'), undefined)
})

t.test('withDefaults takes the viewport from the device unless an option overrides it', async (t) => {
  t.match(withDefaults({ device: 'iPhone 15 Pro' }), { viewportWidth: 393, viewportHeight: 659, deviceScaleFactor: 3 })
  t.match(withDefaults({ device: 'iPhone 15 Pro', viewportWidth: 500 }), { viewportWidth: 500, viewportHeight: 659 })
})

t.test('times as other programs write them, such as with microseconds, were refused', async (t) => {
  const precise = ['2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:00.123456789+00:00']
  const written = [...precise, '2026-01-01t10:00:00z', '2026-01-01 10:00:00-03:30']
  assertEvery(t, written, (fixedTime) => CaptureOptions.safeParse({ fixedTime }).success)
  assertEvery(t, written, isFixedTime)
})

t.test('fixed_time refuses days and times that do not exist, which Date would move to another day', async (t) => {
  const taken = ['2024-02-29', '2026-12-31T23:59Z', '2026-01-01T00:00:59.5+14:00', '2000-02-29T12:00:00-03:30']
  const refused = [
    ...['2026-02-30', '2025-02-29T00:00Z', '2100-02-29', '2026-04-31T10:00:00Z', '2026-13-01', '2026-00-10', '2026-01-00'],
    ...['2026-01-01T24:00Z', '2026-01-01T10:60Z', '2026-01-01T10:00:60Z', '2026-01-01T10:00+25:00', '2026-01-01T10:00', '2026-01-01T'],
  ]
  assertAccepts(t, (fixedTime) => CaptureOptions.safeParse({ fixedTime }).success, taken, refused)
})

t.test('OptionPolicyText allows everything except the caller’s own bucket by default', async (t) => {
  t.strictSame(OptionPolicyText.parse(undefined), DEFAULT_OPTION_POLICY)
  t.strictSame(OptionPolicyText.parse('{"proxy":false}'), { ...DEFAULT_OPTION_POLICY, proxy: false })
  const { storage, ...others } = DEFAULT_OPTION_POLICY
  t.ok(Object.values(others).every(Boolean))
  t.notOk(storage)
  const bucket = { storageBucket: 'a', storageSecretAccessKey: 'b' }
  t.strictSame(findForbidden(bucket, DEFAULT_OPTION_POLICY), Object.keys(bucket))
})

t.test('OptionPolicyText refuses invalid policies', async (t) => {
  for (const text of ['x', '{"proxies":false}', '{"proxy":"no"}', '[]']) t.notOk(OptionPolicyText.safeParse(text).success, text)
})

t.test('findForbidden returns options that are set but disabled', async (t) => {
  const found = (options: object, disabled: object) => findForbidden(options, { ...DEFAULT_OPTION_POLICY, ...disabled })
  const disabled = { proxy: false, bypassCsp: false }
  const proxied = { proxy: 'http://a', proxyUsername: 'b', bypassCsp: true }
  t.strictSame(found({ ...proxied, scripts: '1' }, disabled), Object.keys(proxied))
  t.strictSame(found({ bypassCsp: false, scripts: '1' }, disabled), [])
  t.strictSame(found({ proxy: 'http://a', ignoreHttpsErrors: true }, {}), [])
  t.strictSame(found({ scripts: '1', waitForFunction: '1' }, { scripts: false }), ['scripts', 'waitForFunction'])
})

t.test('toForbiddenMessage spells options in snake case', async (t) => {
  t.equal(toForbiddenMessage(['bypassCsp']), 'this service does not allow bypass_csp. Leave it out, or ask an administrator to allow it')
  t.match(toForbiddenMessage(['proxy', 'initScript']), /proxy, init_script\. Leave them out/)
})

const named = (rule: 'links' | 'picture', value: unknown): string[] =>
  [...optionsByName].filter(([, { facts }]) => facts[rule] === value).map(([name]) => name)

t.test('options without rules do not compile, and those of an option replace those of its group', async (t) => {
  // @ts-expect-error the group does not say whether its options change the picture
  group('Video', { links: 'yes' }, {})
  const { options } = group('Video', PICTURE, { videoWide: off('Wide.'), videoSecret: flag({ default: true, links: 'no' })('Secret.') })
  t.match(options.videoWide.facts, PICTURE)
  t.match(options.videoSecret.facts, { links: 'no', picture: 'yes', default: true, absent: 'true' })
})

t.test('links refuse every value, one value or no value of an option', async (t) => {
  assertAccepts<Parameters<typeof isRefusedInLinks>[0]>(t, (rule) => isRefusedInLinks(rule, 1), ['no'], ['yes', 'own_markup'])
  assertAccepts<unknown>(t, (value) => isRefusedInLinks({ except: false }, value), [false], [true, 'false'])
})

const REFUSED = `
  async authorization basicAuthPassword basicAuthUsername compareAcceptStatus compareAntialiasing compareColorTolerance compareIgnore
  compareThreshold compareTo cookies headers initScript localStorage proxy proxyBypass proxyPassword proxyUsername responseType scriptUrls
  scripts storageAccessKeyId storageBucket storageEndpoint storagePath storagePathStyle storageRegion storageSecretAccessKey
  waitForFunction webhookEvents webhookUrl
`

t.test('links refuse these options; those that show text or frames of a link itself are own markup', async (t) => {
  t.strictSame(named('links', 'no').sort(), REFUSED.trim().split(/\s+/))
  t.strictSame(named('links', 'own_markup').sort(), ['html', 'markdown', 'pdfFooterTemplate', 'pdfHeaderTemplate', 'styleUrls', 'styles'])
})

t.test('only time limits, retries, delivery and the cache itself leave the picture unchanged', async (t) => {
  const limits = ['jobTimeout', 'captureTimeout', 'retries', 'retryDelay']
  const delivery = ['async', 'responseType', 'attachmentName', 'downloadUrlTtl', 'webhookUrl', 'webhookEvents', 'externalIdentifier']
  const kept = ['retentionDays', 'cache', 'cacheTtl', 'cacheRefresh']
  t.strictSame(named('picture', 'no').sort(), [...limits, ...delivery, ...kept].sort())
})

t.test('timeout changes the picture if a wait that it limits ends with a picture', async (t) => {
  const rule = optionsByName.get('timeout')?.facts.picture
  if (typeof rule !== 'object') return t.fail('the rule depends on other options')
  const cases: [options: object, changes: boolean][] = [
    [{}, false],
    [{ bestAttempt: true }, true],
    [{ waitUntil: ['load', 'networkidle'] }, true],
    [{ scriptsWaitUntil: ['networkidle'] }, true],
    [{ waitUntil: ['networkidle'], networkIdleTimeout: 60_000 }, true],
    [{ waitForImages: true }, true],
    [{ waitForImages: true, waitForSelectorTimeout: 1_000 }, false],
  ]
  for (const [options, changes] of cases) t.equal(rule.holds({ ...captureDefaults, ...options }), changes, JSON.stringify(options))
  t.match(rule.when, 'best_attempt')
})

const cases: { options: AllOptions; found: string[] }[] = [
  { options: {}, found: [] },
  { options: { imageQuality: 10 }, found: ['image_quality has no effect on png'] },
  { options: { imageQuality: 10, format: 'jpeg' }, found: [] },
  { options: { format: 'mp4', imageQuality: 10 }, found: ['image_quality has no effect on mp4, webm and gif'] },
  { options: { compareThreshold: 0 }, found: ['compare_threshold has no effect without compare_to'] },
  { options: { compareThreshold: 0, compareTo: 'scr_1' }, found: [] },
  { options: { compareIgnore: [{ selector: 'p' }] }, found: [] },
  { options: { fullPageMaxHeight: 2_000 }, found: ['full_page_max_height has no effect without full_page'] },
  { options: { fullPageMaxHeight: 2_000, fullPage: false }, found: ['full_page_max_height has no effect without full_page'] },
  { options: { fullPageMaxHeight: 2_000, fullPage: true }, found: [] },
  {
    options: { html: 'a', headers: { a: 'b' } },
    found: ['headers has no effect on html and markdown without html_base_url, unless headers_scope is all'],
  },
  {
    options: { markdown: 'a', basicAuthUsername: 'a', basicAuthPassword: 'b', headersScope: 'all', authorization: 'c' },
    found: ['basic_auth_username has no effect on html and markdown without html_base_url'],
  },
  { options: { html: 'a', htmlBaseUrl: 'https://example.com/', headers: { a: 'b' } }, found: [] },
]

for (const { options, found } of cases)
  t.test(`findWarnings finds ${found.length} in ${JSON.stringify(options)}`, async (t) => t.strictSame(findWarnings(options), found))

t.test('every warning names an existing option, and fits into the record', async (t) => {
  assertEvery(t, warnings, ({ option }) => option in CaptureOptions.shape || privateOptionNames.includes(option))
  assertEvery(t, warnings, ({ option, reason }) => `${option} has no effect ${reason}`.length < 240)
})
