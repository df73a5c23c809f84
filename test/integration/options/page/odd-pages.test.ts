import type { CaptureOptions } from '@tintype/crds/options/catalog'
import t from 'tap'
import { choose } from '../../../support/length.ts'
import { FRAME, oddDocuments } from '../../capture-runner/page/odd-documents.ts'
import { openStage } from '../options.ts'

// Legal pages that other tools of this kind fail on. A capture is completed, whatever its options.

const paths = Object.keys(oddDocuments).map((name, index) => ({ name, path: `/odd-${index}` }))
const PARTS = ['lime', 'blue', 'yellow'].map((color) => `<div style="height:700px;background:${color}"></div>`).join('')

const stage = await openStage(t, {
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
  '/reloads': `<!doctype html><title>Reloads</title><style>body { margin: 0 }</style>${PARTS}<script>addEventListener('resize', () => location.reload())</script>`,
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

t.test('a page that reloads itself when its window changes is complete in a full page', async (t) => {
  const { pixels } = await stage.shoot('/reloads', { fullPage: true })
  t.equal(pixels.height, 2_100)
  t.strictSame(
    [100, 1_000, 2_050].map((y) => pixels.at(640, y)),
    [
      [0, 255, 0],
      [0, 0, 255],
      [255, 255, 0],
    ],
  )
})

t.test('hidden elements stay hidden in a page that reloads itself when its window changes', async (t) => {
  const { pixels } = await stage.shoot('/reloads-hidden', { fullPage: true, hideSelectors: ['#ad'] })
  t.equal(pixels.height, 2_100)
  t.strictSame(pixels.at(640, 100), [0, 255, 0])
})
