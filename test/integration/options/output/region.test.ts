// The part of the page to capture.

import t from 'tap'
import { BLUE, GREEN, isNear, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { openStage, page } from '../options.ts'

const box = (id: string, style: string, body = '') => `<div id="${id}" style="position:absolute;${style}">${body}</div>`

/** A green box of 300 × 200 at 100, 3000, half of it under a blue element fixed to the window's top; a second box at 700, 3500. */
const boxes = page(
  '',
  `<div style="height:5000px">
   ${box('one', 'left:100px;top:3000px;width:300px;height:200px;background:#0f0')}
   ${box('two', 'left:700px;top:3500px;width:100px;height:100px;background:#f00')}
   <div class="none" style="display:none">hidden</div></div>`,
)
const covered = page(
  '',
  `<div style="height:3000px">${box('one', 'left:100px;top:1500px;width:300px;height:200px;background:#0f0')}
   <div style="position:fixed;inset:0;background:#00f8"></div></div>`,
)
/** Twenty stripes of 100 px, all blue except the red one at 1,500. */
const stripes = page(
  '',
  Array.from({ length: 20 }, (_, i) => `<div style="height:100px;background:${i === 15 ? '#f00' : '#00f'}"></div>`).join(''),
)
const whenSeen = page(
  '',
  `<div style="height:4000px"></div><div id="late" style="height:100px;width:100px;background:#f00"></div>
   <script>new IntersectionObserver(([e]) => { if (e.isIntersecting) e.target.style.background = '#0f0' }).observe(document.querySelector('#late'))</script>`,
)
/** A green element of 100 × 60 pixels, unless a case has another size. */
const target = (style = '') => `<div class="target" style="width:100px;height:60px;background:#0f0;${style}"></div>`
const green = (style = '') => target(style).replace('class="target" ', '')
const gap = (height = 900) => `<div style="height:${height}px;background:#f00"></div>`
const scroller = (body: string, style = '') =>
  `<div style="width:200px;height:150px;overflow:auto;scrollbar-width:none;${style}">${body}</div>`

/** Elements of which a part is hidden, and what the picture shows of each: its size, all green, or only in the middle of each side if it is round. */
const painted: readonly { what: string; html: string; size: readonly [number, number]; cut?: string; isRound?: true }[] = [
  { what: 'in a scroll box', html: scroller(gap() + target() + gap()), size: [100, 60] },
  { what: 'in nested scroll boxes', html: scroller(gap() + scroller(gap() + target() + gap()) + gap()), size: [100, 60] },
  { what: 'in a card that hides its overflow', html: scroller(gap() + target(), 'overflow:hidden'), size: [100, 60] },
  {
    what: 'larger than its scroll box',
    html: scroller(gap() + target('width:900px;height:600px')),
    size: [200, 150],
    cut: '200 × 150 of 900 × 600',
  },
  {
    what: 'larger than its card',
    html: scroller(target('height:400px'), 'overflow:clip;border:5px solid #00f'),
    size: [100, 150],
    cut: '100 × 150 of 100 × 400',
  },
  {
    what: 'in a collapsed part',
    html: `<div style="height:20px;overflow:clip">${target()}</div>`,
    size: [100, 20],
    cut: '100 × 20 of 100 × 60',
  },
  { what: 'in a scaled scroll box', html: scroller(gap() + target(), 'transform:scale(.5);transform-origin:0 0'), size: [50, 30] },
  { what: 'with a clip path', html: target('clip-path:inset(10px 20px)'), size: [60, 40] },
  {
    what: 'in a clip path',
    html: `<div style="clip-path:inset(0 50px 0 0);width:100px">${target()}</div>`,
    size: [50, 60],
    cut: '50 × 60 of 100 × 60',
  },
  {
    what: 'positioned out of a card',
    html: `<div style="height:10px;overflow:hidden">${target('position:absolute')}</div>`,
    size: [100, 60],
  },
  { what: 'sticky in a scroll box', html: scroller(gap(80) + target('position:sticky;top:0') + gap()), size: [100, 60] },
  {
    what: 'a wrapper of floats',
    html: `<div class="target" style="height:0">${target('float:left')}${target('float:left')}</div>`,
    size: [200, 60],
  },
  {
    what: 'a wrapper of absolute children',
    html: `<div class="target" style="position:relative;top:0">${target('position:absolute;top:0;left:30px')}</div>`,
    size: [100, 60],
  },
  {
    what: 'a link around a picture',
    html: `<a class="target" style="font-size:10px">${target('display:inline-block;vertical-align:bottom')}</a>`,
    size: [100, 60],
  },
  { what: 'half left of the page', html: target('margin-left:-40px'), size: [60, 60], cut: '60 × 60 of 100 × 60' },
  {
    what: 'fixed in a transformed parent with hidden overflow',
    html: `<div style="transform:translateX(0);height:30px;overflow:hidden">${target('position:fixed')}</div>`,
    size: [100, 30],
    cut: '100 × 30 of 100 × 60',
  },
  { what: 'without a box of its own', html: `<div class="target" style="display:contents">${green()}${green()}</div>`, size: [100, 120] },
  {
    what: 'without a box of its own in a scroll box',
    html: scroller(`${gap()}<div class="target" style="display:contents">${green()}</div>${gap()}`),
    size: [100, 60],
  },
  {
    what: 'a slot',
    html: `<div><template shadowrootmode="closed"><p>The title</p><slot class="target"></slot></template>${green()}</div>`,
    size: [100, 60],
  },
  ...Object.entries({
    'circle(40px at right 50px top 60px)': [80, 80],
    'circle()': [200, 200],
    'ellipse(25% 40% at 50% 50%)': [150, 160],
    'polygon(50% 10px, calc(100% - 50px) 50%, 50% calc(100% - 10px), 50px 50%)': [200, 180],
    'url(#shape)': [100, 100],
    'path("M 100 50 L 150 100 L 100 150 L 50 100 Z")': [100, 100],
    'inset(10px) content-box': [270, 170],
  } satisfies Record<string, [number, number]>).map(([shape, size]) => ({
    what: `with the clip path ${shape}`,
    html: `<svg width="0" height="0" style="position:absolute"><clipPath id="shape"><circle cx="100" cy="90" r="50"/></clipPath></svg>
      ${target(`box-sizing:border-box;width:300px;height:200px;padding:5px;clip-path:${shape.replaceAll('"', '&quot;')}`)}`,
    size,
    isRound: true as const,
  })),
  {
    what: 'turned, with a clip path',
    html: target('width:300px;height:200px;transform:rotate(90deg);clip-path:inset(50px 100px)'),
    size: [100, 100],
  },
  { what: 'with clip', html: target('position:absolute;clip:rect(10px,90px,50px,auto)'), size: [90, 40] },
  { what: 'a wrapper of a shape', html: `<div class="target">${target('float:left;clip-path:inset(0 20px)')}</div>`, size: [60, 60] },
  {
    what: 'larger than its drawing',
    html: '<svg width="100" height="60"><rect class="target" width="900" height="900" fill="#0f0"/></svg>',
    size: [100, 60],
    cut: '100 × 60 of 900 × 900',
  },
  {
    what: 'larger than a drawing in its drawing',
    html: '<svg width="200" height="100"><svg x="50" y="20" width="100" height="60"><rect class="target" width="900" height="900" fill="#0f0"/></svg></svg>',
    size: [100, 60],
    cut: '100 × 60 of 900 × 900',
  },
  {
    what: 'a board that scrolls sideways',
    html: `<div class="target" style="width:200px;overflow-x:auto;scrollbar-width:none">${green('width:900px')}</div>`,
    size: [200, 60],
    cut: '200 × 60 of 900 × 60',
  },
  {
    what: 'around a board that scrolls sideways',
    html: `<div class="target" style="width:200px"><div style="overflow-x:auto;scrollbar-width:none">${green('width:900px')}</div></div>`,
    size: [200, 60],
    cut: '200 × 60 of 900 × 60',
  },
]
/** Pages that are read from the right, and are wider than the window. */
const fromRight = (style: string) =>
  page(`${style};background:#00f`, `${target()}<div style="width:1500px;height:1500px;background:#f00"></div>`)
/** What opens an element that is not shown. */
const closed: readonly (readonly [what: string, html: string, advice: RegExp])[] = [
  ['in a closed details element', `<details><summary>More</summary>${target()}</details>`, /closed <details>\. Open it with click_all/],
  ['in a closed dialog', `<dialog>${target()}</dialog>`, /closed dialog or popover\. Open it with click$/],
  ['that is found only by a search', `<div hidden="until-found">${target()}</div>`, /not rendered .*\. Show it with styles$/],
  ['without content', `<div style="content-visibility:hidden">${target()}</div>`, /not rendered .*\. Show it with styles$/],
  ['hidden', `<div hidden>${target()}</div>`, /is hidden\. Show it with styles or click, or wait for it with wait_for_selector$/],
]
const hidden: readonly (readonly [what: string, html: string])[] = [
  ['that skips its content', '<div class="target" style="content-visibility:hidden;height:60px">Text</div>'],
  ['a wrapper without content', '<div class="target"></div>'],
  ['in a closed part', `<div style="height:0;overflow:clip">${target()}</div>`],
  ['left of the page', target('position:absolute;left:-9999px')],
]
const paintedPages = Object.fromEntries(
  [...painted.map(({ html }) => html), ...hidden.map(([, html]) => html), ...closed.map(([, html]) => html)].map((html, index) => [
    `/painted-${index}`,
    page('background:#00f', `${gap(300)}${html}${gap(2_000)}`),
  ]),
)
const stage = await openStage(t, {
  ...paintedPages,
  '/rtl': fromRight('direction:rtl'),
  '/vertical': fromRight('writing-mode:vertical-rl'),
  '/boxes': boxes,
  '/covered': covered,
  '/stripes': stripes,
  '/when-seen': whenSeen,
})
const { shoot } = stage
const sizeOf = ({ width, height }: { width: number; height: number }) => [width, height]

t.test('option selector: captures only the first visible match, anywhere on the page', async (t) => {
  const { pixels } = await shoot('/boxes', { selector: '.none, #one' })
  t.strictSame(sizeOf(pixels), [300, 200])
  for (const [x, y] of [
    [0, 0],
    [299, 199],
  ] as const)
    t.ok(isNear(pixels.at(x, y), GREEN, 0), `${x},${y}`)
  const doubled = await shoot('/boxes', { selector: '#one', deviceScaleFactor: 2, format: 'jpeg' })
  t.strictSame(sizeOf(doubled.pixels), [600, 400])
})

t.test('option selector_all: captures the area of all matches', async (t) => {
  const { pixels } = await shoot('/boxes', { selector: '#one, #two', selectorAll: true })
  t.strictSame(sizeOf(pixels), [700, 600])
  t.ok(isNear(pixels.at(0, 0), GREEN) && isNear(pixels.at(699, 599), RED) && isNear(pixels.at(500, 300), WHITE))
})

t.test('option selector_padding: adds the surroundings of the element, within the page', async (t) => {
  const { pixels } = await shoot('/boxes', { selector: '#one', selectorPadding: 150 })
  t.strictSame(sizeOf(pixels), [100 + 300 + 150, 500], 'the page ends 100 pixels to the left')
  t.ok(isNear(pixels.at(99, 200), WHITE) && isNear(pixels.at(100, 200), GREEN))
})

t.test('option selector_isolate: hides elements above the element', async (t) => {
  const plain = await shoot('/covered', { selector: '#one' })
  t.notOk(isNear(plain.pixels.at(150, 100), GREEN), 'the blue element is in the screenshot')
  const { pixels } = await shoot('/covered', { selector: '#one', selectorIsolate: true })
  t.ok(isNear(pixels.at(150, 100), GREEN, 0))
})

t.test('option selector_scroll_into_view: triggers content that waits to be visible', async (t) => {
  t.ok(isNear((await shoot('/when-seen', { selector: '#late' })).pixels.at(50, 50), GREEN))
  t.ok(isNear((await shoot('/when-seen', { selector: '#late', selectorScrollIntoView: false })).pixels.at(50, 50), RED))
})

t.test('option selector_algorithm: clip captures the box without scrolling', async (t) => {
  const { pixels } = await shoot('/when-seen', { selector: '#late', selectorAlgorithm: 'clip' })
  t.strictSame(sizeOf(pixels), [100, 100])
  t.ok(isNear(pixels.at(50, 50), RED), 'the page was not scrolled')
})

t.test('option error_on_selector_not_found: fails, or captures the window with a warning', async (t) => {
  const { pixels, findings } = await shoot('/boxes', { selector: '#none', timeout: 1_000 })
  t.strictSame(sizeOf(pixels), [1920, 1080])
  t.match(findings.warnings, [/^captured the whole window: no visible element matched/])
  const error = await stage.fail('/boxes', { selector: '#none', timeout: 1_000, errorOnSelectorNotFound: true })
  t.equal(error.code, 'SELECTOR_NOT_FOUND')
})

// proves: clip_x, clip_y, clip_width, clip_height
t.test('clip_* captures a region of the page, also below the window', async (t) => {
  const { pixels } = await shoot('/stripes', { clipX: 10, clipY: 1_490, clipWidth: 50, clipHeight: 120 })
  t.strictSame(sizeOf(pixels), [50, 120])
  t.ok(isNear(pixels.at(25, 9), BLUE, 0) && isNear(pixels.at(25, 10), RED, 0), 'from its first row')
  t.ok(isNear(pixels.at(25, 109), RED, 0) && isNear(pixels.at(25, 110), BLUE, 0), 'to its last row')
  const beyond = await shoot('/stripes', { clipX: 0, clipY: 9_000, clipWidth: 50, clipHeight: 50 })
  t.match(beyond.findings.warnings, ['the region is outside the page', /one color/])
})

t.test('option capture_beyond_viewport: false cuts a region at the window, and gives a full page a tall window', async (t) => {
  const clip = { clipX: 0, clipY: 1_000, clipWidth: 50, clipHeight: 700 }
  const cut = await shoot('/stripes', { ...clip, captureBeyondViewport: false })
  t.strictSame(sizeOf(cut.pixels), [50, 80])
  t.match(cut.findings.warnings, [/^the picture shows 50 × 80 of 50 × 700 pixels of the region: capture_beyond_viewport is false$/])
  t.strictSame(sizeOf((await shoot('/stripes', clip)).pixels), [50, 700])
  const full = await shoot('/stripes', { fullPage: true, captureBeyondViewport: false })
  t.strictSame(sizeOf(full.pixels), [1920, 2000])
  t.ok(isNear(full.pixels.at(5, 1_550), RED))
})

t.test('an element in a box showed what lies below the box, and a wrapper without height the whole window', async (t) => {
  const size = { viewportWidth: 800, viewportHeight: 600, stabilityTimeout: 0, selector: '.target' }
  for (const [index, { what, size: wanted, cut, isRound }] of painted.entries()) {
    const { pixels, findings } = await shoot(`/painted-${index}`, size)
    t.strictSame(sizeOf(pixels), wanted, what)
    const [right, bottom] = [pixels.width - 1, pixels.height - 1]
    const [x, y] = [Math.floor(right / 2), Math.floor(bottom / 2)]
    const points: readonly (readonly [number, number])[] = isRound
      ? ([
          [1, y],
          [x, 1],
          [right - 1, y],
          [x, bottom - 1],
        ] as const)
      : ([
          [0, 0],
          [right, 0],
          [0, bottom],
          [right, bottom],
        ] as const)
    const colors = points.map((point) => pixels.at(...point))
    t.ok(
      colors.every((color) => isNear(color, GREEN)),
      `${what}: ${colors}`,
    )
    t.match(
      findings.warnings.filter((warning) => !warning.includes('one color')),
      cut === undefined ? [] : [cut],
      what,
    )
    t.equal(
      findings.warnings.some((warning) => warning.includes('selector')),
      cut !== undefined,
      `${what}: ${findings.warnings}`,
    )
  }
  for (const [index, [what]] of hidden.entries()) {
    const path = `/painted-${painted.length + index}`
    t.match((await shoot(path, size)).findings.warnings, [/^captured the whole window: the element shows nothing/], what)
    t.match(await stage.fail(path, { ...size, errorOnSelectorNotFound: true }), { code: 'SELECTOR_NOT_FOUND' }, what)
  }
})

t.test('an element that only its reader opens gave an empty picture, and a hidden one was waited for until the timeout', async (t) => {
  const size = { viewportWidth: 800, viewportHeight: 600, stabilityTimeout: 0, selector: '.target' }
  for (const [index, [what, , advice]] of closed.entries()) {
    const path = `/painted-${painted.length + hidden.length + index}`
    const { warnings } = (await shoot(path, size)).findings
    t.match(warnings, [/^captured the whole window: no visible element matched: \.target\. The first match /], what)
    t.match(warnings, [advice], what)
    const error = await stage.fail(path, { ...size, errorOnSelectorNotFound: true })
    t.match(error, { code: 'SELECTOR_NOT_FOUND', message: advice }, what)
  }
  const opened = await shoot(`/painted-${painted.length + hidden.length}`, { ...size, clickAll: 'details > summary' })
  t.strictSame([sizeOf(opened.pixels), opened.findings.warnings.length], [[100, 60], 1], 'the advice helps')
})

t.test('an element of a page that is read from the right and wider than the window was an empty picture', async (t) => {
  for (const path of ['/rtl', '/vertical']) {
    const size = { viewportWidth: 800, viewportHeight: 600, stabilityTimeout: 0 }
    const { pixels } = await shoot(path, { ...size, selector: '.target' })
    t.strictSame([sizeOf(pixels), pixels.at(1, 1), pixels.at(98, 58)], [[100, 60], GREEN, GREEN], path)
    const full = await shoot(path, { ...size, fullPage: true })
    t.strictSame([full.pixels.width, full.pixels.at(798, 1)], [800, GREEN], `${path}: a full page begins where its window does`)
  }
})
