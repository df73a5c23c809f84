import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { optionsByName } from '@tintype/crds/options/groups'
import t from 'tap'
import { choose } from '../../../support/length.ts'
import { FRAME, oddDocuments } from '../../capture-runner/page/odd-documents.ts'
import { BLUE, GREEN, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { openStage, type Shot } from '../options.ts'

// Legal pages that other tools of this kind fail on. A capture is completed, whatever its options.

const paths = Object.keys(oddDocuments).map((name, index) => ({ name, path: `/odd-${index}` }))
const PARTS = ['lime', 'blue', 'yellow'].map((color) => `<div style="height:700px;background:${color}"></div>`).join('')

// Every option that takes a selector or reads text, against one page of components. The element is a green box with the words "Sold out".

const BOX = 'position:absolute;left:100px;top:100px;width:300px;height:200px;background:#00ff00;margin:0;font-size:40px'
const TARGET = `<div class="target" style="${BOX}" onclick="this.style.background='#0000ff'" onmouseover="this.style.background='#0000ff'">Sold out</div>`
const attach = (mode: 'open' | 'closed', inner: string) =>
  `<x-card></x-card><script>const card = document.querySelector('x-card').attachShadow({ mode: '${mode}' })
   card.innerHTML = ${JSON.stringify(inner)}</script>`
const inFrame = (inner: string) =>
  `<iframe style="border:0;position:absolute;left:0;top:0;width:800px;height:600px" srcdoc="${inner.replaceAll('"', '&quot;')}"></iframe>`

const PLACES: Record<string, string> = {
  'an open shadow root': attach('open', TARGET),
  'a slot': `<x-card>${TARGET}</x-card><script>document.querySelector('x-card').attachShadow({ mode: 'open' }).innerHTML = '<slot></slot>'</script>`,
  'a frame': inFrame(TARGET),
  'a shadow root in a frame': inFrame(attach('open', TARGET)),
  'a closed shadow root': attach('closed', TARGET),
}

const partsPage = (inner: string) =>
  `<!doctype html><title>Parts</title><body style="margin:0;background:white"><p>In stock</p>${inner}</body>`

const stage = await openStage(t, {
  ...Object.fromEntries(Object.values(PLACES).map((inner, index) => [`/${index}`, partsPage(inner)])),
  ...Object.fromEntries(
    Object.values(oddDocuments).map((document, index) => [
      `/odd-${index}`,
      typeof document === 'string'
        ? document
        : (_: unknown, response: import('node:http').ServerResponse) =>
            void response.writeHead(200, { 'content-type': document.contentType ?? 'text/html' }).end(document.text),
    ]),
  ),
  '/frame': FRAME,
  '/reloads-hidden': `<!doctype html><title>Reloads</title><style>body { margin: 0 }</style><div id="ad" style="height:700px;background:red"></div>${PARTS}
    <script>addEventListener('resize', () => location.reload())</script>`,
})

const SETS: Record<string, CaptureOptions> = {
  'the defaults of full_page': { fullPage: true, blankPageAction: 'accept' },
  'options that change the page': {
    ...{
      fullPage: true,
      blankPageAction: 'accept',
      fullPageScroll: true,
      fullPageMaxScrolls: 1,
      fullPageScrollContainer: 'auto',
      fullPageFixedElements: 'hide',
    },
    ...{
      hideSelectors: ['.absent'],
      includeShadowDom: true,
      maskSelectors: ['#target'],
      disableAnimations: true,
      pauseVideos: true,
      pageZoom: 1.5,
    },
  },
  'options that read the page': {
    ...{
      blankPageAction: 'accept',
      saveText: true,
      saveHtml: true,
      saveAccessibilityTree: true,
      metadataOpenGraph: true,
      metadataIcon: true,
    },
    ...{
      metadataLinks: true,
      metadataTimings: true,
      metadataFonts: true,
      selector: '#target',
      waitForSelectorTimeout: 200,
      selectorIsolate: true,
      failIfContentContains: ['absent'],
    },
  },
}

for (const [at, [set, options]] of Object.entries(SETS).entries()) {
  for (const { name, path } of choose(paths, (_, index) => (index + at) % 3 === 0)) {
    t.test(`a capture with ${set} is completed: ${name}`, async (t) => {
      const { picture } = await stage.shoot(path, options)
      t.ok(picture.length > 0)
    })
  }
}

t.test('hidden elements stay hidden in a page that reloads itself when its window changes', async (t) => {
  const { pixels } = await stage.shoot('/reloads-hidden', { fullPage: true, hideSelectors: ['#ad'] })
  t.equal(pixels.height, 2_100)
  t.strictSame(pixels.at(640, 100), [0, 255, 0])
})

const rootPaths = Object.keys(PLACES).map((name, index) => ({ name, path: `/${index}` }))

const colorAt = ({ pixels }: Shot, x: number, y: number) => [...pixels.at(x, y).slice(0, 3)]
const middleIs =
  (color: readonly number[]) =>
  async (path: string, options: CaptureOptions): Promise<boolean> =>
    isNear(colorAt(await stage.shoot(path, options), 250, 280), color)
const failsWith =
  (code: string) =>
  async (path: string, options: CaptureOptions): Promise<boolean> =>
    (await stage.fail(path, options)).code === code
const isCompleted = async (path: string, options: CaptureOptions): Promise<boolean> =>
  !(await stage.shoot(path, options)).findings.warnings.some((warning) => warning.includes('matched no'))

/** What shows that an option has found the element. */
const proofs: Record<string, { options: CaptureOptions; isFound: (path: string, options: CaptureOptions) => Promise<boolean> }> = {
  clickAll: { options: { clickAll: '.target' }, isFound: middleIs(BLUE) },
  click: { options: { click: '.target', waitForSelectorTimeout: 3_000 }, isFound: middleIs(BLUE) },
  compareIgnore: {
    options: { compareIgnore: [{ selector: '.target' }] },
    isFound: async (path, options) => ((await stage.shoot(path, options)).findings.ignoredElements?.[0]?.areas.length ?? 0) > 0,
  },
  failIfContentContains: { options: { failIfContentContains: ['sold out'] }, isFound: failsWith('CONTENT_RULE') },
  failIfContentMissing: { options: { failIfContentMissing: ['sold out'] }, isFound: isCompleted },
  failIfSelectorPresent: { options: { failIfSelectorPresent: ['.target'] }, isFound: failsWith('CONTENT_RULE') },
  fullPageScrollContainer: { options: { fullPage: true, fullPageScrollContainer: '.target' }, isFound: isCompleted },
  hideSelectors: {
    options: { hideSelectors: ['.target'], includeShadowDom: true },
    isFound: async (...shot) => !(await middleIs(GREEN)(...shot)),
  },
  hover: { options: { hover: '.target', waitForSelectorTimeout: 3_000 }, isFound: middleIs(BLUE) },
  maskSelectors: { options: { maskSelectors: ['.target'], maskColor: '#ff0000' }, isFound: middleIs(RED) },
  saveText: {
    options: { saveText: true },
    isFound: async (path, options) => /Sold out/.test(String((await stage.shoot(path, options)).findings.files.get('text'))),
  },
  scrollIntoView: { options: { scrollIntoView: '.target', waitForSelectorTimeout: 3_000 }, isFound: isCompleted },
  selector: {
    options: { selector: '.target', waitForSelectorTimeout: 3_000 },
    isFound: async (path, options) => {
      const shot = await stage.shoot(path, options)
      return shot.pixels.width === 300 && shot.pixels.height === 200 && isNear(colorAt(shot, 150, 180), GREEN)
    },
  },
  waitForSelector: { options: { waitForSelector: '.target', waitForSelectorTimeout: 3_000 }, isFound: isCompleted },
  waitForSelectorGone: {
    options: { waitForSelectorGone: '.target', waitForSelectorTimeout: 600 },
    isFound: async (path, options) => (await stage.fail(path, options)).code === 'TIMEOUT',
  },
}

t.test('every option that takes a selector or reads text has a proof here', async (t) => {
  const wanted = [...optionsByName]
    .filter(([, { description = '' }]) => /CSS selectors?\b|partsPage shows|visible text/.test(description))
    .map(([name]) => name)
  t.ok(wanted.length >= 12, wanted.join())
  t.strictSame(
    wanted.filter((name) => !(name in proofs)),
    [],
  )
})

// In `npm test`, each option looks in two places, and each place is that of six options.
for (const [number, [name, { options, isFound }]] of Object.entries(proofs).entries()) {
  t.test(`${name} finds elements of components and frames`, async (t) => {
    const chosen = choose(rootPaths, (_, index) => [number, number + 2].some((place) => place % rootPaths.length === index))
    for (const { name: place, path } of chosen) t.ok(await isFound(path, options), place)
  })
}
