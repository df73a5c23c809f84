// The part of the page to capture.

import t from 'tap'
import { BLUE, GREEN, isNear, RED, WHITE } from '../../capture-runner/stage/pixels.ts'
import { markup, openStage, page, pathOf, SMALL_WINDOW } from '../options.ts'

const box = (id: string, style: string, body = '') => `<div id="${id}" style="position:absolute;${style}">${body}</div>`

/** A green box of 300 × 200 at 100, 3000, half of it under a blue element fixed to the window's top; a second box at 700, 3500. */
const boxes = markup`<div style="height:5000px">
   ${box('one', 'left:100px;top:3000px;width:300px;height:200px;background:#0f0')}
   ${box('two', 'left:700px;top:3500px;width:100px;height:100px;background:#f00')}
   <div class="none" style="display:none">hidden</div></div>`
const covered = markup`<div style="height:3000px">${box('one', 'left:100px;top:1500px;width:300px;height:200px;background:#0f0')}
   <div style="position:fixed;inset:0;background:#00f8"></div></div>`
/** Twenty stripes of 100 px, all blue except the red one at 1,500. */
const stripes = page(
  '',
  Array.from({ length: 20 }, (_, i) => `<div style="height:100px;background:${i === 15 ? '#f00' : '#00f'}"></div>`).join(''),
)
const whenSeen = markup`<div style="height:4000px"></div><div id="late" style="height:100px;width:100px;background:#f00"></div>
   <script>new IntersectionObserver(([e]) => { if (e.isIntersecting) e.target.style.background = '#0f0' }).observe(document.querySelector('#late'))</script>`
/** A green element of 100 × 60 pixels, unless a case has another size. */
const target = (style = '') => `<div class="target" style="width:100px;height:60px;background:#0f0;${style}"></div>`
const green = (style = '') => target(style).replace('class="target" ', '')
const gap = (height = 900) => `<div style="height:${height}px;background:#f00"></div>`
const scroller = (body: string, style = '') =>
  `<div style="width:200px;height:150px;overflow:auto;scrollbar-width:none;${style}">${body}</div>`

/** An element of which a part is hidden, and what the picture shows of it: its size, all green. `cut`: what a warning says. */
type Painted = readonly [what: string, html: string, size: readonly [number, number], cut?: string]
const painted: readonly Painted[] = [
  ['in a scroll box', scroller(gap() + target() + gap()), [100, 60]],
  ['in nested scroll boxes', scroller(gap() + scroller(gap() + target() + gap()) + gap()), [100, 60]],
  ['in a card that hides its overflow', scroller(gap() + target(), 'overflow:hidden'), [100, 60]],
  ['larger than its scroll box', scroller(gap() + target('width:900px;height:600px')), [200, 150], '200 × 150 of 900 × 600'],
  ['larger than its card', scroller(target('height:400px'), 'overflow:clip;border:5px solid #00f'), [100, 150], '100 × 150 of 100 × 400'],
  ['in a collapsed part', `<div style="height:20px;overflow:clip">${target()}</div>`, [100, 20], '100 × 20 of 100 × 60'],
  ['in a scaled scroll box', scroller(gap() + target(), 'transform:scale(.5);transform-origin:0 0'), [50, 30]],
  ['with a clip path', target('clip-path:inset(10px 20px)'), [60, 40]],
  ['in a clip path', `<div style="clip-path:inset(0 50px 0 0);width:100px">${target()}</div>`, [50, 60], '50 × 60 of 100 × 60'],
  ['positioned out of a card', `<div style="height:10px;overflow:hidden">${target('position:absolute')}</div>`, [100, 60]],
  ['sticky in a scroll box', scroller(gap(80) + target('position:sticky;top:0') + gap()), [100, 60]],
  ['a wrapper of floats', `<div class="target" style="height:0">${target('float:left')}${target('float:left')}</div>`, [200, 60]],
  [
    'a wrapper of absolute children',
    `<div class="target" style="position:relative;top:0">${target('position:absolute;top:0;left:30px')}</div>`,
    [100, 60],
  ],
  [
    'a link around a picture',
    `<a class="target" style="font-size:10px">${target('display:inline-block;vertical-align:bottom')}</a>`,
    [100, 60],
  ],
  ['half left of the page', target('margin-left:-40px'), [60, 60], '60 × 60 of 100 × 60'],
  [
    'fixed in a transformed parent with hidden overflow',
    `<div style="transform:translateX(0);height:30px;overflow:hidden">${target('position:fixed')}</div>`,
    [100, 30],
    '100 × 30 of 100 × 60',
  ],
  ['without a box of its own', `<div class="target" style="display:contents">${green()}${green()}</div>`, [100, 120]],
  [
    'without a box of its own in a scroll box',
    scroller(`${gap()}<div class="target" style="display:contents">${green()}</div>${gap()}`),
    [100, 60],
  ],
  ['a slot', `<div><template shadowrootmode="closed"><p>The title</p><slot class="target"></slot></template>${green()}</div>`, [100, 60]],
  ['turned, with a clip path', target('width:300px;height:200px;transform:rotate(90deg);clip-path:inset(50px 100px)'), [100, 100]],
  ['with clip', target('position:absolute;clip:rect(10px,90px,50px,auto)'), [90, 40]],
  ['a wrapper of a shape', `<div class="target">${target('float:left;clip-path:inset(0 20px)')}</div>`, [60, 60]],
  [
    'larger than its drawing',
    '<svg width="100" height="60"><rect class="target" width="900" height="900" fill="#0f0"/></svg>',
    [100, 60],
    '100 × 60 of 900 × 900',
  ],
  [
    'larger than a drawing in its drawing',
    '<svg width="200" height="100"><svg x="50" y="20" width="100" height="60"><rect class="target" width="900" height="900" fill="#0f0"/></svg></svg>',
    [100, 60],
    '100 × 60 of 900 × 900',
  ],
  [
    'a board that scrolls sideways',
    `<div class="target" style="width:200px;overflow-x:auto;scrollbar-width:none">${green('width:900px')}</div>`,
    [200, 60],
    '200 × 60 of 900 × 60',
  ],
  [
    'around a board that scrolls sideways',
    `<div class="target" style="width:200px"><div style="overflow-x:auto;scrollbar-width:none">${green('width:900px')}</div></div>`,
    [200, 60],
    '200 × 60 of 900 × 60',
  ],
]
/** Clip paths and the size of what they show. */
const round = Object.entries({
  'circle(40px at right 50px top 60px)': [80, 80],
  'circle()': [200, 200],
  'ellipse(25% 40% at 50% 50%)': [150, 160],
  'polygon(50% 10px, calc(100% - 50px) 50%, 50% calc(100% - 10px), 50px 50%)': [200, 180],
  'url(#shape)': [100, 100],
  'path("M 100 50 L 150 100 L 100 150 L 50 100 Z")': [100, 100],
  'inset(10px) content-box': [270, 170],
} satisfies Record<string, [number, number]>).map(
  ([shape, size]): Painted => [
    `with the clip path ${shape}`,
    `<svg width="0" height="0" style="position:absolute"><clipPath id="shape"><circle cx="100" cy="90" r="50"/></clipPath></svg>
      ${target(`box-sizing:border-box;width:300px;height:200px;padding:5px;clip-path:${shape.replaceAll('"', '&quot;')}`)}`,
    size,
  ],
)
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
  [...painted, ...round, ...hidden, ...closed].map(([what, html]) => [
    pathOf(what),
    page('background:#00f', `${gap(300)}${html}${gap(2_000)}`),
  ]),
)
const stage = await openStage(
  t,
  {
    ...paintedPages,
    '/rtl': fromRight('direction:rtl'),
    '/vertical': fromRight('writing-mode:vertical-rl'),
    '/boxes': boxes,
    '/covered': covered,
    '/stripes': stripes,
    '/when-seen': whenSeen,
  },
  { usual: SMALL_WINDOW },
)
const { shoot } = stage

t.test('option selector: captures only the first visible match, anywhere on the page', async (t) => {
  const { pixels } = await shoot('/boxes', { selector: '.none, #one' })
  t.strictSame(pixels.size, [300, 200])
  for (const [x, y] of [
    [0, 0],
    [299, 199],
  ] as const)
    t.ok(isNear(pixels.at(x, y), GREEN, 0), `${x},${y}`)
  const doubled = await shoot('/boxes', { selector: '#one', deviceScaleFactor: 2, format: 'jpeg' })
  t.strictSame(doubled.pixels.size, [600, 400])
})

t.test('option selector_all: captures the area of all matches', async (t) => {
  const { pixels } = await shoot('/boxes', { selector: '#one, #two', selectorAll: true })
  t.strictSame(pixels.size, [700, 600])
  t.ok(isNear(pixels.at(0, 0), GREEN) && isNear(pixels.at(699, 599), RED) && isNear(pixels.at(500, 300), WHITE))
})

t.test('option selector_padding: adds the surroundings of the element, within the page', async (t) => {
  const { pixels } = await shoot('/boxes', { selector: '#one', selectorPadding: 150 })
  t.strictSame(pixels.size, [100 + 300 + 150, 500], 'the page ends 100 pixels to the left')
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
  t.strictSame(pixels.size, [100, 100])
  t.ok(isNear(pixels.at(50, 50), RED), 'the page was not scrolled')
})

t.test('option error_on_selector_not_found: fails, or captures the window with a warning', async (t) => {
  const { pixels, findings } = await shoot('/boxes', { selector: '#none', timeout: 1_000 })
  t.strictSame(pixels.size, [1000, 700])
  t.match(findings.warnings, [/^captured the whole window: no visible element matched/])
  const error = await stage.fail('/boxes', { selector: '#none', timeout: 1_000, errorOnSelectorNotFound: true })
  t.equal(error.code, 'SELECTOR_NOT_FOUND')
})

// proves: clip_x, clip_y, clip_width, clip_height
t.test('clip_* captures a region of the page, also below the window', async (t) => {
  const { pixels } = await shoot('/stripes', { clipX: 10, clipY: 1_490, clipWidth: 50, clipHeight: 120 })
  t.strictSame(pixels.size, [50, 120])
  t.ok(isNear(pixels.at(25, 9), BLUE, 0) && isNear(pixels.at(25, 10), RED, 0), 'from its first row')
  t.ok(isNear(pixels.at(25, 109), RED, 0) && isNear(pixels.at(25, 110), BLUE, 0), 'to its last row')
  const beyond = await shoot('/stripes', { clipX: 0, clipY: 9_000, clipWidth: 50, clipHeight: 50 })
  t.match(beyond.findings.warnings, ['the region is outside the page', /one color/])
})

t.test('option capture_beyond_viewport: false cuts a region at the window, and gives a full page a tall window', async (t) => {
  const clip = { clipX: 0, clipY: 600, clipWidth: 50, clipHeight: 700 }
  const cut = await shoot('/stripes', { ...clip, captureBeyondViewport: false })
  t.strictSame(cut.pixels.size, [50, 100])
  t.match(cut.findings.warnings, [/^the picture shows 50 × 100 of 50 × 700 pixels of the region: capture_beyond_viewport is false$/])
  t.strictSame((await shoot('/stripes', clip)).pixels.size, [50, 700])
  const full = await shoot('/stripes', { fullPage: true, captureBeyondViewport: false })
  t.strictSame(full.pixels.size, [1000, 2000])
  t.ok(isNear(full.pixels.at(5, 1_550), RED))
})

t.test('an element in a box showed what lies below the box, and a wrapper without height the whole window', async (t) => {
  const size = { viewportWidth: 800, viewportHeight: 600, stabilityTimeout: 0, selector: '.target' }
  for (const [what, , wanted, cut] of [...painted, ...round]) {
    const { pixels, findings } = await shoot(pathOf(what), size)
    t.strictSame(pixels.size, wanted, what)
    const [right, bottom] = [pixels.width - 1, pixels.height - 1]
    const [x, y] = [Math.floor(right / 2), Math.floor(bottom / 2)]
    const corners = [0, right].flatMap((left) => [0, bottom].map((top) => [left, top] as const))
    // A round shape reaches only the middle of each side.
    const middles = [...[1, right - 1].map((left) => [left, y] as const), ...[1, bottom - 1].map((top) => [x, top] as const)]
    const colors = (what.startsWith('with the clip path') ? middles : corners).map((point) => pixels.at(...point))
    t.strictSame(
      colors.filter((color) => !isNear(color, GREEN)),
      [],
      what,
    )
    const warnings = findings.warnings.filter((warning) => !warning.includes('one color'))
    t.match(warnings, cut === undefined ? [] : [cut], what)
    t.equal(
      findings.warnings.some((warning) => warning.includes('selector')),
      cut !== undefined,
      `${what}: ${findings.warnings}`,
    )
  }
  for (const [what] of hidden) {
    const path = pathOf(what)
    t.match((await shoot(path, size)).findings.warnings, [/^captured the whole window: the element shows nothing/], what)
    t.match(await stage.fail(path, { ...size, errorOnSelectorNotFound: true }), { code: 'SELECTOR_NOT_FOUND' }, what)
  }
})

t.test('an element that only its reader opens gave an empty picture, and a hidden one was waited for until the timeout', async (t) => {
  const size = { viewportWidth: 800, viewportHeight: 600, stabilityTimeout: 0, selector: '.target' }
  for (const [what, , advice] of closed) {
    const path = pathOf(what)
    const { warnings } = (await shoot(path, size)).findings
    t.match(warnings, [/^captured the whole window: no visible element matched: \.target\. The first match /], what)
    t.match(warnings, [advice], what)
    const error = await stage.fail(path, { ...size, errorOnSelectorNotFound: true })
    t.match(error, { code: 'SELECTOR_NOT_FOUND', message: advice }, what)
  }
  const opened = await shoot(pathOf(closed[0]?.[0] ?? ''), { ...size, clickAll: 'details > summary' })
  t.strictSame([opened.pixels.size, opened.findings.warnings.length], [[100, 60], 1], 'the advice helps')
})

t.test('an element of a page that is read from the right and wider than the window was an empty picture', async (t) => {
  for (const path of ['/rtl', '/vertical']) {
    const size = { viewportWidth: 800, viewportHeight: 600, stabilityTimeout: 0 }
    const { pixels } = await shoot(path, { ...size, selector: '.target' })
    t.strictSame([pixels.size, pixels.at(1, 1), pixels.at(98, 58)], [[100, 60], GREEN, GREEN], path)
    const full = await shoot(path, { ...size, fullPage: true })
    t.strictSame([full.pixels.width, full.pixels.at(798, 1)], [800, GREEN], `${path}: a full page begins where its window does`)
  }
})
