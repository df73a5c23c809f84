import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { openLab, type Source, WINDOW } from './lab.ts'

// The saved HTML, opened from disk with scripts switched on, looks like the page.

const open = await openLab(t)

const SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="40"><rect width="60" height="40" fill="green"/></svg>'
const OTHERS: Record<string, string | Source> = {
  '/files/square.svg': { text: SQUARE, contentType: 'image/svg+xml' },
  '/files/page.css': { text: 'h1 { color: teal; background: url(square.svg) }', contentType: 'text/css' },
  '/frame': '<!doctype html><body style="background:gold">A frame<input id="f"><script>f.value = "typed"</script>',
}

const attach = (mode: string, inner: string, more = '', light = '') =>
  `<x-card>${light}</x-card><script>{ const root = document.querySelector('x-card').attachShadow({ mode: '${mode}' }); root.innerHTML = ${JSON.stringify(inner)}; ${more} }</script>`
const SHEET = (css: string, target: string) =>
  `const sheet = new CSSStyleSheet(); sheet.replaceSync(${JSON.stringify(css)}); ${target}.adoptedStyleSheets = [sheet];`

/** Bytes of a page in an old encoding. */
const encoded = (charset: string, hex: string): Source => ({
  text: Buffer.concat([Buffer.from(`<!doctype html><meta charset="${charset}"><title>x</title><h1>`), Buffer.from(hex, 'hex')]),
  contentType: 'text/html',
})

/** Pages that look the same from disk. */
const PAGES: Record<string, string | Source> = {
  'windows-1251 in its markup': encoded('windows-1251', 'cfe5f0e2fbe920f1ede5e3'),
  'Shift_JIS in its markup': encoded('Shift_JIS', '8f8991e1'),
  'ISO-8859-2 in its header': {
    text: Buffer.from('<!doctype html><meta http-equiv="content-type" content="text/html; charset=windows-1252"><p>\xB1\xE6\xEA', 'latin1'),
    contentType: 'text/html; charset=iso-8859-2',
  },
  'relative URLs':
    '<!doctype html><link rel="stylesheet" href="files/page.css" crossorigin integrity=""><h1>Title</h1><img srcset="files/square.svg 1x"><p style="background:url(files/square.svg)">text</p>',
  'a base of its own':
    '<!doctype html><base href="/files/" target="_top"><link rel="stylesheet" href="page.css"><h1>Title</h1><img src="square.svg">',
  'a policy that allows only its own files':
    '<!doctype html><meta http-equiv="Content-Security-Policy" content="style-src \'self\' \'unsafe-inline\'; img-src \'self\'"><style>p { color: red }</style><p>text</p><img src="files/square.svg">',
  'an open shadow root': `<!doctype html>${attach('open', '<style>p { color: blue } :host { display: block; border: 9px solid }</style><p>Shadow</p>')}`,
  'nested shadow roots with slots': `<!doctype html>${attach(
    'open',
    '<b>before</b> <slot name="a">none</slot> <slot></slot><div id="inner"></div>',
    "root.getElementById('inner').attachShadow({ mode: 'open', delegatesFocus: true }).innerHTML = '<style>i { color: red }</style><i>deep</i>'",
    'light<em slot="a">slotted</em>',
  )}`,
  'constructed style sheets': `<!doctype html><style>p { color: red }</style><p>text</p>${attach('open', '<p>Shadow</p>', SHEET('p { color: green; content: "</style>" } @media (min-width: 1px) { p { margin: 40px } }', 'root'))}
    <script>{ ${SHEET('p { color: purple }', 'document')} }</script>`,
  'rules that scripts add and remove': `<!doctype html><style id="empty"></style><style id="full">p { color: red } p { background: gold }</style><style id="off">p { font-size: 50px }</style><p>text</p>
    <script>empty.sheet.insertRule('p { border: 5px solid blue }'); full.sheet.deleteRule(1); full.sheet.cssRules[0].style.color = 'green'; off.sheet.disabled = true</script>`,
  'values of fields': `<!doctype html><style>:checked + b { color: red } :not(:checked) + b { color: blue }</style>
    <input id="a" value="old"><input id="b" placeholder="hint" value="old"><textarea id="c">old</textarea><input type="checkbox" id="d"><b>d</b><input type="checkbox" id="e" checked><b>e</b>
    <input type="radio" name="r" id="f" checked><b>f</b><input type="radio" name="r" id="g"><b>g</b><select id="h"><option>one<option>two</select><select id="i" multiple><option>x<option selected>y</select>
    <select id="j"><option>first</select><input type="range" id="k"><input type="color" id="l"><input type="date" id="m"><input type="submit"><progress id="n" max="9"></progress>
    <script>a.value = 'new "<&'; b.value = ''; c.value = '\\n\\nnew </textarea>'; d.checked = true; e.checked = false; g.checked = true; h.value = 'two'; i.options[0].selected = true; i.options[1].selected = false
    j.selectedIndex = -1; k.value = 90; l.value = '#00ff00'; m.value = '2026-03-09'; n.value = 4</script>`,
  'a password': '<!doctype html><input type="password" id="p"><script>p.value = "s3cret"</script>',
  'open details and a dialog':
    '<!doctype html><details id="a"><summary>more</summary>text</details><details open id="b"><summary>less</summary>text</details><dialog id="c">words</dialog><script>a.open = true; b.open = false; c.show(); document.activeElement.blur()</script>',
  'a modal dialog': `<!doctype html><style>dialog { border: 0; padding: 30px } dialog:modal { width: 300px; background: gold } ::backdrop { background: rgb(0 0 80 / 50%); opacity: 0.6 }</style><p>${'text '.repeat(200)}</p>
    <div style="position:relative;z-index:3;background:pink">above</div><dialog id="d"><p>Really?</p></dialog><script>d.showModal(); document.activeElement.blur()</script>`,
  'a popover':
    '<!doctype html><style>[popover] { opacity: 0.2 } :popover-open { opacity: 1; color: red }</style><p>text</p><div popover id="d">Words</div><script>d.showPopover()</script>',
  'canvases and images that scripts made': `<!doctype html><canvas id="c" width="80" height="60" style="background:gold;padding:5px;width:200px"></canvas><canvas width="30" height="30"></canvas><img id="i"><script>
    const context = c.getContext('2d'); context.fillStyle = 'red'; context.fillRect(10, 10, 40, 20)
    i.src = URL.createObjectURL(new Blob([${JSON.stringify(SQUARE)}], { type: 'image/svg+xml' }))</script>`,
  'frames of its own': `<!doctype html><iframe src="/frame"></iframe><iframe id="empty"></iframe><iframe srcdoc="<p>old</p>" id="doc"></iframe><script>
    empty.contentDocument.write('<body style="background:lime">written'); empty.contentDocument.close(); doc.onload = () => { doc.contentDocument.body.append('new') }</script>`,
  'scripts that change the page': `<!doctype html><p id="p">once</p><img src="/none" onerror="p.textContent += ' error'" hidden><script>p.textContent += ' more'</script>
    <script>document.addEventListener('DOMContentLoaded', () => { if (location.protocol === 'file:') document.body.replaceChildren('404') })</script>`,
  'noscript and a refresh': `<!doctype html><meta http-equiv="refresh" content="1;url=/frame"><noscript><style>p { color: red }</style></noscript><p>text</p><noscript><h1>Turn on scripts</h1></noscript>`,
  'components that are hidden until they are defined': `<!doctype html><style>x-late:not(:defined) { visibility: hidden } x-never:not(:defined) { color: red }</style><x-late>late</x-late> <x-never>never</x-never>
    <script>customElements.define('x-late', class extends HTMLElement {})</script>`,
  'text that begins with a line break': '<!doctype html><pre>\n\n  indented</pre><p>a &lt;b&gt; &amp;amp; c</p>',
  'no doctype':
    '<title>Quirks</title><style>p { margin: 0 } .A { COLOR: 0000FF }</style><table><tr><td class="a">text</table><img src="files/square.svg" height="100%">',
  'an XHTML document': {
    text: '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title><script src="/none.js"/><style><![CDATA[p > b { color: red }]]></style></head><body><div/><p>text <b>bold</b></p><textarea/></body></html>',
    contentType: 'application/xhtml+xml',
  },
  'a drawing': {
    text: '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 80 60"><defs><linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient><circle id="c" r="9"/></defs><rect width="80" height="60" fill="url(#g)"/><use xlink:href="#c" x="20" y="20"/></svg>',
    contentType: 'image/svg+xml',
  },
  'texts that would end their elements': `<!doctype html><style id="a"></style><style id="b"></style><xmp id="c"></xmp><script type="text/plain" id="d"></script><p>text</p><script>
    a.textContent = 'p::after { content: "</st' + 'yle><h1>out</h1>" }'; b.sheet.insertRule('p::before { content: "</st' + 'yle><h1>in</h1>" }')
    c.textContent = 'x</xm' + 'p><h1>xmp</h1>'; d.textContent = '</scr' + 'ipt><h1>script</h1><!--<scr' + 'ipt>'; document.body.prepend(document.createComment('--><h1>comment</h1>'), document.createComment('><h1>comment</h1>'))
    document.body.append(document.createElement('div')); document.body.lastChild.attachShadow({ mode: 'open' }).innerHTML = '<style></style><i>shadow</i>'
    document.body.lastChild.shadowRoot.firstChild.textContent = 'i::after { content: "</st' + 'yle><h1>shadow</h1>" }'</script>`,
  'a text': { text: 'one <b>\n  two\n', contentType: 'text/plain' },
}

t.test('saved HTML looks like the page when it is opened from disk', async (t) => {
  const { reader, folder } = await openReader(t)
  for (const [name, source] of Object.entries(PAGES)) {
    const { page, call } = await open(source, OTHERS)
    const seen = await page.screenshot()
    const { html, lost } = await call('readHtml')
    t.strictSame(lost, {}, `${name}: nothing is lost`)
    const file = path.join(folder, 'saved.html')
    await writeFile(file, html)
    await reader.goto(pathToFileURL(file).href)
    const saved = await reader.screenshot()
    t.ok(saved.equals(seen), name)
    t.match(reader.url(), /^file:/, `${name}: stays where it is`)
  }
})

t.test('saved HTML has no password and no value of a field that is not shown', async (t) => {
  const fields = [
    '<input type="password" value="secret">',
    '<input type="password" value="secret" hidden>',
    '<input type="password" id="f"><script>f.value = "sec" + "ret"</script>',
    '<input type="password" id="f" name="new-password"><script>f.value = "sec" + "ret"; f.type = "text"</script>',
    '<input autocomplete="current-password" id="f"><script>f.value = "sec" + "ret"</script>',
    '<input style="display:none" id="f"><script>f.value = "sec" + "ret"</script>',
    '<div style="visibility:hidden"><textarea id="f"></textarea></div><script>f.value = "sec" + "ret"</script>',
    attach('open', '<input type="password">', "root.querySelector('input').value = 'sec' + 'ret'"),
    '<iframe src="/login"></iframe>',
  ]
  for (const field of fields) {
    const { call } = await open(`<!doctype html>${field}`, {
      '/login': '<input type="password" id="f"><script>f.value = "sec" + "ret"</script>',
    })
    t.notMatch((await call('readHtml')).html, /secret/, field)
  }
})

t.test('saved HTML counts what a page shows and it lacks', async (t) => {
  const parts: Record<string, readonly [html: string, lost: Record<string, number>]> = {
    'a canvas with an image of another origin': [
      '<canvas id="c"></canvas><img id="i" src="http://other.test/files/square.svg" hidden><script>onload = () => c.getContext("2d").drawImage(i, 0, 0)</script>',
      { canvas: 1 },
    ],
    'a canvas of WebGL': [
      '<canvas id="c"></canvas><script>const gl = c.getContext("webgl"); gl.clearColor(1, 0, 0, 1); gl.clear(gl.COLOR_BUFFER_BIT)</script>',
      { canvas: 1 },
    ],
    'a video of a script': ['<video id="v"></video><script>onload = () => { v.srcObject = new MediaStream() }</script>', { video: 1 }],
    'elements that show nothing': [
      '<canvas></canvas><canvas width="0"></canvas><div hidden><canvas id="c"></canvas><video id="v"></video></div><img src="/none.png"><iframe></iframe><script>c.getContext("webgl"); onload = () => { v.srcObject = new MediaStream() }</script>',
      {},
    ],
    'files of sites': [
      '<video src="http://other.test/v.mp4"></video><iframe src="http://other.test/frame"></iframe><img src="http://other.test/files/square.svg">',
      {},
    ],
  }
  for (const [name, [html, lost]] of Object.entries(parts)) {
    const { page, call } = await open(`<!doctype html>${html}`, OTHERS)
    await page.screenshot()
    t.strictSame((await call('readHtml')).lost, lost, name)
  }
})

/** A tab that opens files and loads what the pages refer to. */
async function openReader(t: Test) {
  const { page } = await open('')
  const reader = await page.context().browser()!.newPage({ viewport: WINDOW })
  await reader.route('http://page.test/**', (route) => {
    const found = OTHERS[new URL(route.request().url()).pathname]
    if (found === undefined) return route.fulfill({ status: 404 })
    const { text, contentType = 'text/html' } = typeof found === 'string' ? { text: found } : found
    return route.fulfill({ contentType, body: text })
  })
  return { reader, folder: t.testdir() }
}
