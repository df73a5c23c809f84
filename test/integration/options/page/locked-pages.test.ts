// Pages that a dialog has locked, whatever hides the dialog; and parts with a scroll bar of their own.

import t from 'tap'
import type { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { BLUE, GREEN, isNear } from '../../capture-runner/stage/pixels.ts'
import { atPaths, openStage, page, pathOf } from '../options.ts'

const [WIDTH, HEIGHT, WHOLE] = [800, 600, 2_000]
const size = { viewportWidth: WIDTH, viewportHeight: HEIGHT, fullPage: true } as const

/** 2,000 px of text: green, white, and blue at the end. */
const article = ['#0f0', '#fff', '#fff', '#00f'].map((color) => `<p style="height:500px;margin:0;background:${color}">News</p>`).join('')
const dialog = (style = '') =>
  `<div id="ask" style="position:fixed;inset:0;z-index:9;background:#0008;${style}"><div class="box" style="margin:200px;background:#fff">We use cookies. <button>Fine</button></div></div>`
const CLIPPED = '.locked, .locked body { height: 100%; overflow: hidden }'
const FIXED = "document.body.style.cssText += ';position:fixed;width:100%;top:' + -scrollY + 'px'"
const locked = (rules: string, body: string, script = '') => page('', `${body}<script>${script}</script>`, `<style>${rules}</style>`)
const hidden = { hideSelectors: ['#ask'] }

/** Locks that outlive their dialog, which is hidden unless the row has other options. */
const LOCKS: Readonly<Record<string, string | readonly [html: string, options: CaptureOptions]>> = {
  'both elements clip, and a rule hides the dialog': [
    locked('html, body { height: 100%; overflow: hidden }', article + dialog()),
    { styles: '#ask { display: none !important }' },
  ],
  'the body is fixed where the page was scrolled': locked('', article + dialog(), `scrollTo(0, 900);${FIXED}`),
  'the root element is fixed': locked('html { position: fixed; inset: 0; overflow: clip }', article + dialog()),
  'classes stay after a click on the button': [
    locked(
      CLIPPED,
      article + dialog(),
      "document.documentElement.className = 'locked'; document.querySelector('button').onclick = () => ask.remove()",
    ),
    { click: 'button' },
  ],
  'a part is inert, and a script removes the dialog': [
    locked('[inert] { height: 100vh; overflow: hidden }', `<main inert>${article}</main>${dialog()}`),
    { scripts: 'ask.remove()' },
  ],
  'a part is clipped while the body has the class of a dialog': locked(
    '.ReactModal__Body--open #root { max-height: 100vh; overflow: hidden }',
    `<div id="root">${article}</div>${dialog()}`,
    "document.body.className = 'ReactModal__Body--open'",
  ),
  'a part is fixed higher up': locked('', `<div style="position:fixed;top:-300px;width:100%">${article}</div>${dialog()}`),
  'it comes late': locked(
    '.locked { overflow: hidden }',
    article,
    `setTimeout(() => { document.body.insertAdjacentHTML('beforeend', \`${dialog()}\`); document.documentElement.className = 'locked'; ${FIXED} }, 900)`,
  ),
  'an empty layer of the dialog stays': [
    locked('html, body { height: 100%; overflow: hidden }', article + dialog('background:none')),
    { hideSelectors: ['.box'] },
  ],
  'a transparent dialog stays': [locked('html, body { height: 100vh; overflow: hidden }', article + dialog('opacity:0')), {}],
  'a bar at the bottom is shown': [
    locked(
      'html, body { height: 100%; overflow: hidden }',
      `${article}<div style="position:fixed;bottom:0;left:500px;width:50px;height:40px;background:#f00"></div>`,
    ),
    {},
  ],
  'the body is as tall as the window, and fixed above it': locked(
    '',
    article + dialog(),
    "scrollTo(0, 900); document.body.style.cssText += ';position:fixed;width:100%;height:100%;top:-900px'",
  ),
  'a margin moves the fixed body up': locked(
    '',
    article + dialog(),
    "document.body.style.cssText += ';position:fixed;width:100%;overflow:hidden;margin-top:-900px'",
  ),
  'a transform moves the fixed root element up': locked(
    'html { position: fixed; width: 100%; transform: translateY(-900px) }',
    article + dialog(),
  ),
  'a script for smooth scrolling has moved a part up': locked(
    'html, body { height: 100%; overflow: hidden }',
    `<div style="transform:translate3d(0,-300px,0)"><div style="position:relative;top:-600px">${article}</div></div>${dialog()}`,
  ),
  'an inset moves the fixed body up, and a transform too': locked(
    'body { position: fixed; inset: -300px 0 0; transform: translateY(-150px) }',
    article + dialog(),
  ),
  'a transform moves the root element up': locked('html { transform: translateY(-300px) }', article + dialog()),
  'the body is moved up by less than a quarter of the window': locked('body { position: relative; top: -120px }', article + dialog()),
  'the body is moved up from below': locked('body { position: relative; bottom: 350px }', article + dialog()),
  'a translation moves the body up': locked('body { translate: 0 -250px }', article + dialog()),
  'a margin moves the main part up': locked('main { margin-top: -400px }', `<main>${article}</main>${dialog()}`),
  'a script has moved what it shows in a layer of the window': locked(
    `body { height: ${WHOLE}px } main { position: fixed; inset: 0; overflow: hidden }`,
    `<main><div style="transform:translate3d(0,-900px,0)">${article}</div></main>${dialog()}`,
  ),
}

/** Locks whose dialog, or a part of it, is still there, and what the warning names. */
const OPEN: Readonly<Record<string, readonly [html: string, cover: string, options?: CaptureOptions]>> = {
  'a dialog with a backdrop': [locked('html, body { height: 100%; overflow: hidden }', article + dialog()), 'div#ask'],
  'a backdrop without its dialog': [locked('', article + dialog(), FIXED), 'div#ask', { hideSelectors: ['.box'] }],
  'a modal dialog of the browser': [
    locked(CLIPPED, `${article}<dialog id="terms">Terms</dialog>`, "document.documentElement.className = 'locked'; terms.showModal()"),
    'dialog#terms',
  ],
  'a box in the middle of a locked part': [
    locked(
      '.no-scroll { height: 100vh; overflow: hidden }',
      `<main class="no-scroll">${article}</main><div class="offer" style="position:absolute;z-index:999;top:30%;left:30%;width:40%;height:40%;background:#fff">10 % off</div>`,
    ),
    'div.offer',
  ],
}

/** What must stay as it is, 2,000 px tall unless the row has another height. */
const OWN: Readonly<Record<string, string | readonly [html: string, height: number]>> = {
  'a part that scrolls itself': locked(
    'html, body { height: 100%; overflow: hidden } main { height: 100%; overflow: auto }',
    `<main>${article}</main>`,
  ),
  'a window that hides a drawer and a decoration': [
    locked(
      'html, body { height: 100%; overflow: hidden; position: relative }',
      `<h1>Hello</h1><div style="position:absolute;top:100%;height:900px">Menu</div><div style="height:1500px;background:linear-gradient(#fff,#eee)"></div>`,
    ),
    HEIGHT,
  ],
  'a page that hides its sides': locked(
    'html { overflow-x: hidden } body { overflow-x: hidden; position: relative }',
    `${article}<div style="position:absolute;top:0;left:1200px;height:1900px">Off</div>`,
  ),
  'slides that are moved up in their box': [
    locked('', `<div style="height:600px;overflow:hidden"><div style="transform:translateY(-500px)">${article}</div></div>${article}`),
    HEIGHT + WHOLE,
  ],
  'a menu and pictures that begin above the page': locked(
    'body { overflow: hidden }',
    `${article}<div style="position:fixed;inset:0;transform:translateY(-70%)"><p>Menu</p></div><div style="position:absolute;inset:-400px 0 auto;z-index:-1">${article}</div>`,
  ),
  'a closed drawer, and one of which a handle is seen': [
    locked(
      'div { height: 400px; margin-top: -400px } div + div { height: 100px; margin-top: -90px }',
      `<div>Accounts</div><div>Search</div>${article}`,
    ),
    WHOLE + 10,
  ],
  'a link that appears when it has the focus': locked(
    'a { display: block; height: 60px; margin-top: -60px }',
    `<a href="#m">Skip to the text</a>${article}`,
  ),
  'a band of color that begins above the page': [
    locked(
      'header { margin-top: -500px; padding-top: 520px; background: linear-gradient(#fff, #eee) }',
      `<header>Harbor</header>${article}`,
    ),
    WHOLE + 38,
  ],
  'a preview that is cut in a page': [locked('', `<div style="height:300px;overflow:hidden">${article}</div><p>Read more</p>`), HEIGHT],
}

const words = 'The boats of the harbor come in at six, and the market opens when they have. '
const text = (count: number) => `<p>${words.repeat(8)}</p>`.repeat(count)
const rows = (count: number) =>
  Array.from({ length: count }, (_, row) => `<tr><td>Customer ${row}<td>${row} of 900 EUR<td>paid</tr>`).join('')
const links = Array.from({ length: 90 }, (_, link) => `<li><a href="/${link}">Chapter ${link} of the handbook</a></li>`).join('')
const items = (count: number) => Array.from({ length: count }, (_, pier) => `<li>Pier ${pier}</li>`).join('')
const pictures =
  `<img width="200" height="150" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='200' height='150'/%3E">`.repeat(
    30,
  )
const box = (attributes: string, body: string) => `<div ${attributes.replace('style="', 'style="overflow-y:auto;')}>${body}</div>`
const around = (body: string) => page('', `<h1>Harbor</h1>${body}<div style="height:1500px"></div>`)

/** Parts of which a full page shows less than three quarters, and the warning. */
const PANELS: Readonly<Record<string, readonly [html: string, warning: RegExp, options?: CaptureOptions]>> = {
  'a table': [
    around(box('id="orders" style="height:300px"', `<table>${rows(80)}</table>`)),
    /shows 300 of [12]\d{3} pixels of the height of div#orders, which scrolls\. Name it in full_page_scroll_container/,
  ],
  'a conversation that is scrolled to its end': [
    around(
      `${box('id="talk" role="log" style="width:250px;height:250px"', `${text(6)}<textarea></textarea>`)}<script>talk.scrollTop = 9999</script>`,
    ),
    /shows 250 of \d{4} pixels of the height of div#talk/,
  ],
  'terms low in the page': [
    page('', `<div style="height:1500px"></div>${box('class="terms" style="width:400px;height:150px"', text(6))}`),
    /of div\.terms/,
  ],
  'a frame': [around(`<iframe id="inner" style="width:500px;height:300px" srcdoc="${text(9)}"></iframe>`), /of iframe#inner/],
  'pictures in a component': [
    around(
      `<x-panel></x-panel><script>document.querySelector('x-panel').attachShadow({ mode: 'open' }).innerHTML = \`${box('class="shots" style="height:200px"', pictures)}\`</script>`,
    ),
    /of div\.shots/,
  ],
  'a part of an unfolded part': [
    page('', box('style="height:100vh"', `${box('id="log" style="height:200px"', text(6))}${article}`)),
    /of div#log/,
  ],
  'the last row of a table that fills much of a window': [
    page(
      '',
      box(
        'id="year" style="height:280px"',
        Array.from({ length: 12 }, (_, month) => `<p style="height:25px;margin:0">Month ${month}</p>`).join(''),
      ),
    ),
    /shows 280 of 300 pixels of the height of div#year/,
  ],
  'a list that draws only the rows in view': [
    around(box('id="grid" style="height:300px"', `<div style="height:30000px"><table style="line-height:30px">${rows(12)}</table></div>`)),
    /shows 300 of 30000 pixels of the height of div#grid, which scrolls\. It draws only the rows in view\. Make it taller with styles$/,
  ],
  'a large code sample': [
    around(`<pre id="code" style="height:250px;overflow:auto">${'let boats = 6\n'.repeat(200)}</pre>`),
    /of pre#code/,
  ],
  'a large field': [around(`<textarea id="note" style="width:600px;height:250px">${'boats\n'.repeat(90)}</textarea>`), /of textarea#note/],
  'a part beside the text that sticks to the window': [
    around(`<aside id="side" style="position:sticky;top:0;width:200px;height:300px;overflow:auto">${text(6)}</aside>`),
    /of aside#side/,
  ],
  'a large menu that sticks to the window': [
    around(`<nav id="parts" style="position:sticky;top:0;width:250px;height:600px;overflow:auto">${links}</nav>`),
    /of nav#parts/,
  ],
  'a list of short rows': [around(`<ul id="piers" style="width:200px;height:200px;overflow:auto">${items(40)}</ul>`), /of ul#piers/],
  'a list of terms': [
    around(`<dl id="terms" style="width:200px;height:200px;overflow:auto">${'<dt>Pier<dd>9 m'.repeat(30)}</dl>`),
    /of dl#terms/,
  ],
  'three of them': [
    around([4, 5, 6].map((count) => box(`id="part${count}" style="height:200px"`, text(count))).join('')),
    /of div#part6, .* There are 2 more such parts: div#part5, div#part4$/,
  ],
}

/** Parts that hide little, or what belongs to no picture. One page has all of them. */
const MINOR: Readonly<Record<string, string>> = {
  'small code samples': `<pre style="height:140px;overflow:auto">${'let boats = 6 // in the harbor\n'.repeat(200)}</pre>${box('style="width:400px;height:200px"', `<pre>${'boats++\n'.repeat(200)}</pre>`)}`,
  'menus and contents': `<nav style="position:sticky;top:0;width:200px;height:500px;overflow:auto">${'<h4>Part</h4>'.repeat(12)}${links}</nav>${box('class="toc" style="width:200px;height:300px"', links)}`,
  'a menu and a field that are all seen, and a few rows more': `<nav style="height:300px;overflow:auto">${items(9)}</nav><textarea style="width:700px;height:300px">Six boats</textarea><ul style="height:200px;overflow:auto">${items(14)}</ul>`,
  'fields and editors': `<textarea style="width:400px;height:100px">${words.repeat(60)}</textarea><select size="6">${'<option>Oslo</option>'.repeat(200)}</select>${box('contenteditable style="height:140px"', text(6))}`,
  'a few lines more': box('style="height:300px"', `<div style="height:420px">${text(3)}</div>`),
  'an empty space': box('style="height:300px"', '<p>Nothing yet</p><div style="height:3000px"></div>'),
  'parts that nobody sees': `<div style="height:0;overflow:hidden">${box('style="height:200px"', text(9))}</div>${box('style="position:absolute;left:-900px;width:400px;height:200px"', text(9))}${box('style="opacity:0;height:200px"', text(9))}`,
  'a conversation above the page': box('style="position:fixed;right:0;bottom:0;width:250px;height:250px"', text(9)),
}

const VEIL = 'position: fixed; inset: 0; backdrop-filter: blur(8px)'
/** Layers that blur the page, and what the warning names. */
const VEILS: Readonly<Record<string, readonly [css: string, body: string, name: string]>> = {
  'a layer that lets the pointer through': [`.veil { ${VEIL}; pointer-events: none }`, '<div class="veil"></div>', 'div.veil'],
  'a layer around another one that lets the pointer through': [
    `.veil { pointer-events: none } .veil i { ${VEIL} }`,
    '<div class="veil"><i class="glass"></i></div>',
    'i.glass',
  ],
  'a layer before the body': [`body::before { content: ''; z-index: 1; ${VEIL} }`, '', 'body::before'],
  'a layer after an empty element': [
    `#wall::after { content: ''; ${VEIL}; pointer-events: none }`,
    '<div id="wall"></div>',
    'div#wall::after',
  ],
  'a layer after the part with the text': [`main::after { content: ''; ${VEIL} }`, '', 'main::after'],
  'a layer over the lower half': [
    'body::after { content: ""; position: fixed; inset: 40% 0 0; backdrop-filter: saturate(2) blur(5px) }',
    '',
    'body::after',
  ],
}
/** Layers that blur no text. */
const CLEAR: Readonly<Record<string, string>> = {
  'a layer below the text': `main { position: relative } .one::before { content: ''; ${VEIL} }`,
  'a bar of glass': `.two::before { content: ''; ${VEIL}; bottom: auto; height: 60px }`,
  'a layer that is not shown': `.two::before { content: ''; ${VEIL}; opacity: 0 } .one { ${VEIL}; visibility: hidden; pointer-events: none }`,
  'a layer without content': `.two::after { ${VEIL} }`,
}

type Row = string | readonly [html: string, ...unknown[]]
const named: readonly (readonly [string, Row])[] = Object.entries({ ...LOCKS, ...OPEN, ...OWN, ...PANELS })
const pages = Object.fromEntries(named.map(([name, row]) => [name, typeof row === 'string' ? row : row[0]]))
const stage = await openStage(t, {
  ...atPaths(pages),
  '/minor': around(Object.values(MINOR).join('')),
  '/blurred': locked('', `<main style="filter:blur(6px)">${article}</main>${dialog()}`),
  '/blurred-rows': locked(
    '.row { filter: blur(4px) }',
    `<div style="height:500px"></div>${'<p class="row" style="height:90px">News</p>'.repeat(9)}`,
  ),
  '/veil': locked('', `${article}<div class="veil" style="position:fixed;inset:0;backdrop-filter:blur(8px)"></div>`),
  ...Object.fromEntries(
    Object.entries(VEILS).map(([name, [css, body]]) => [pathOf(name), locked(css, `<main>${article}</main>${body}`)] as const),
  ),
  ...Object.fromEntries(
    Object.entries(CLEAR).map(
      ([name, css]) => [pathOf(name), locked(css, `<div class="one"></div><main>${article}</main><i class="two"></i>`)] as const,
    ),
  ),
  '/glass': locked(
    'main { position: relative }',
    `<div style="position:fixed;inset:0;background:linear-gradient(red,blue)"></div><div style="position:fixed;inset:0;backdrop-filter:blur(9px)"></div><main style="width:300px">${article}</main>`,
  ),
  '/half': locked('', `<h1 style="height:150px;margin:0">News</h1><div id="box" style="height:450px;overflow:hidden">${article}</div>`),
  '/watched': locked(
    '',
    article,
    `const { style } = document.body; const lock = () => { if (style.position !== 'fixed') style.cssText = 'position:fixed;width:100%;margin:0' }
    new MutationObserver(lock).observe(document.body, { attributes: true }); lock()`,
  ),
  '/blurred-picture': locked('', `<div style="position:absolute;inset:0;z-index:-1;filter:blur(9px);background:#ccc"></div>${article}`),
})

for (const [name, row] of Object.entries(LOCKS)) {
  const options = typeof row === 'string' ? hidden : row[1]
  // proves: full_page
  t.test(`a full page showed one window of a page whose dialog is hidden: ${name}`, async (t) => {
    const { pixels, findings } = await stage.shoot(pathOf(name), { ...size, ...options })
    t.equal(pixels.height, WHOLE)
    t.ok(isNear(pixels.at(700, 100), GREEN) && isNear(pixels.at(700, WHOLE - 100), BLUE))
    t.strictSame(findings.warnings, [])
  })
}

t.test('an element below the window of a locked page was an empty picture', async (t) => {
  const [path] = Object.keys(LOCKS).slice(1).map(pathOf)
  const { pixels, findings } = await stage.shoot(path ?? '', { ...size, ...hidden, fullPage: false, selector: 'p:nth-of-type(4)' })
  t.strictSame([pixels.height, pixels.at(700, 400), findings.warnings], [500, BLUE, []])
})

t.test('a full page of a page that an open dialog locks shows one window, with a warning', async (t) => {
  for (const [name, [, cover, options]] of Object.entries(OPEN)) {
    const { pixels, findings } = await stage.shoot(pathOf(name), { ...size, ...options })
    t.equal(pixels.height, HEIGHT, name)
    t.strictSame(
      findings.warnings,
      [
        `the page is locked, and the picture shows ${HEIGHT} of ${WHOLE} pixels of its height: ${cover} is open. Hide it with hide_selectors, or close it with click`,
      ],
      name,
    )
  }
})

t.test('a page that hides nothing to read stays as it is', async (t) => {
  for (const [name, row] of Object.entries(OWN)) {
    const height = typeof row === 'string' ? WHOLE : row[1]
    const { pixels, findings } = await stage.shoot(pathOf(name), size)
    t.strictSame([pixels.height, findings.warnings], [height, []], name)
  }
})

t.test('a full page that is blurred below a hidden dialog has a warning', async (t) => {
  const { findings } = await stage.shoot('/blurred', { ...size, ...hidden })
  t.strictSame(findings.warnings, ['main is blurred. Show it with styles, such as "filter: none !important"'])
  for (const path of ['/blurred-picture', '/glass']) t.strictSame((await stage.shoot(path, size)).findings.warnings, [], path)
})

t.test('text that is blurred low in the page, or by a layer above it, had no warning', async (t) => {
  t.strictSame((await stage.shoot('/blurred-rows', size)).findings.warnings, [
    'p.row is blurred. Show it with styles, such as "filter: none !important"',
  ])
  t.strictSame((await stage.shoot('/veil', size)).findings.warnings, ['div.veil blurs the page below it. Hide it with hide_selectors'])
})

t.test('a layer that blurs the page and lets the pointer through, or is a pseudo-element, had no warning', async (t) => {
  for (const [name, [, , veil]] of Object.entries(VEILS)) {
    const advice = veil.includes('::') ? `Use styles, such as "${veil} { display: none !important }"` : 'Hide it with hide_selectors'
    t.strictSame((await stage.shoot(pathOf(name), size)).findings.warnings, [`${veil} blurs the page below it. ${advice}`], name)
  }
  for (const name of Object.keys(CLEAR)) t.strictSame((await stage.shoot(pathOf(name), size)).findings.warnings, [], name)
})

t.test('the warning about a part that hides the rest had the height of the window', async (t) => {
  t.match((await stage.shoot('/half', size)).findings.warnings, [
    /^the picture shows 450 of 2000 pixels of the height of div#box, which hides the rest/,
  ])
})

t.test('the warning about a page that a script locks again named an option without effect', async (t) => {
  const { findings } = await stage.shoot('/watched', size)
  t.strictSame(findings.warnings, [
    'the picture shows 600 of 2000 pixels of the height of body, which stays locked. Use styles, such as "body { position: static !important; overflow: visible !important; height: auto !important; transform: none !important }"',
  ])
  const styles = /"(.*)"/.exec(findings.warnings[0] ?? '')?.[1] ?? ''
  const { pixels, findings: again } = await stage.shoot('/watched', { ...size, styles })
  t.strictSame([pixels.height, again.warnings], [WHOLE, []])
})

t.test('a part with a scroll bar of its own was cut in a full page without a warning', async (t) => {
  for (const [name, [, warning, options]] of Object.entries(PANELS)) {
    const { findings } = await stage.shoot(pathOf(name), { ...size, ...options })
    t.match(findings.warnings, [warning], name)
    t.equal(findings.warnings.length, 1, name)
  }
})

t.test('a part that hides little, or only links, code or fields, needs no warning', async (t) => {
  t.strictSame((await stage.shoot('/minor', size)).findings.warnings, [])
})
