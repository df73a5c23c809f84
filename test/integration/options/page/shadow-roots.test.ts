import type { CaptureOptions } from '@tintype/crds/options/catalog'
import { optionsByName } from '@tintype/crds/options/groups'
import t from 'tap'
import { choose } from '../../../support/length.ts'
import { BLUE, GREEN, isNear, RED } from '../../capture-runner/stage/pixels.ts'
import { openStage, type Shot } from '../options.ts'

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

const page = (inner: string) => `<!doctype html><title>Parts</title><body style="margin:0;background:white"><p>In stock</p>${inner}</body>`
const stage = await openStage(t, Object.fromEntries(Object.values(PLACES).map((inner, index) => [`/${index}`, page(inner)])))
const paths = Object.keys(PLACES).map((name, index) => ({ name, path: `/${index}` }))

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
    .filter(([, { description = '' }]) => /CSS selectors?\b|page shows|visible text/.test(description))
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
    const chosen = choose(paths, (_, index) => [number, number + 2].some((place) => place % paths.length === index))
    for (const { name: place, path } of chosen) t.ok(await isFound(path, options), place)
  })
}
