import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { openLab, type Source, WINDOW } from './lab.ts'

// What page functions read in a page: its words, and its HTML.

const open = await openLab(t)

const host = (mode: string, inner: string, light = ''): string =>
  `<div id="host">${light}</div><script>document.getElementById('host').attachShadow({ mode: '${mode}' }).innerHTML = ${JSON.stringify(inner)}</script>`

const SOLD = 'sold out'
type Row = string | readonly [html: string, word: string]
const rowsOf = (rows: Readonly<Record<string, Row>>) =>
  Object.entries(rows).map(([name, row]) => (typeof row === 'string' ? ([name, row, SOLD] as const) : ([name, ...row] as const)))

/** What a page has, and what a rule names: they look the same. A row without a word names {@link SOLD}. */
const SAME: Readonly<Record<string, Row>> = {
  'composed and decomposed accents': ['<p>Cafe\u0301 ferme\u0301</p>', 'Café fermé'],
  'decomposed accents in the rule': ['<p>Café</p>', 'Cafe\u0301'],
  'Hangul of parts': ['<p>\u1112\u1161\u11AB</p>', '한'],
  'soft hyphens': ['<p>Liefer\u00ADzeit un\u00ADbe\u00ADkannt</p>', 'Lieferzeit unbekannt'],
  'ß and SS': ['<p>STRASSE</p>', 'straße'],
  'a capital ẞ': ['<p>STRAẞE</p>', 'Strasse'],
  'ß in capitals by style': ['<p style="text-transform:uppercase">straße</p>', 'Straße'],
  'spaces that do not break': ['<p>Sold\u00A0out, 10\u202F€</p>', 'sold out, 10 €'],
  'spaces without width': ['<p>Sold\u200Bout\u2060 today</p>', 'Soldout today'],
  'a break that is not needed': ['<p>Sold<wbr>out</p>', 'Soldout'],
  'joiners of letters': ['<p>می\u200Cخواهم</p>', 'میخواهم'],
  'curly apostrophes': ['<p>We don’t ship</p>', "we don't ship"],
  'a straight apostrophe on the page': ["<p>We don't ship</p>", 'we don’t ship'],
  'curly quotes': ['<p>“Sold out”</p>', '"sold out"'],
  ligatures: ['<p>ﬁrst oﬀer, ﬂat</p>', 'first offer, flat'],
  'a Turkish İ': ['<p>İSTANBUL</p>', 'istanbul'],
  'a Turkish ı': ['<p>KAPALI, ılık</p>', 'kapalı, ILIK'],
  'i and I': ['<p>INFO</p>', 'ınfo'],
  'a final sigma': ['<p>ΤΕΛΟΣ</p>', 'τελος'],
  'a hyphen that does not break': ['<p>e\u2011mail</p>', 'e-mail'],
  'marks of direction': ['<p>\u200Fabc\u200E def</p>', 'abc def'],
  'inline elements in a word': '<p><b>So</b><i>ld</i> <span>o</span>ut</p>',
  'words beside the body': '<script>document.documentElement.append("Sold out")</script>',
  'a shadow root': host('open', '<p>Sold out</p>'),
  'a nested shadow root': `${host('open', '<section id="inner"></section>')}<script>document.getElementById('host').shadowRoot.getElementById('inner')
      .attachShadow({ mode: 'open' }).innerHTML = 'Sold <b>out</b>'</script>`,
  'a slot between words of a shadow root': [host('open', 'Sold <slot></slot> today', '<b>out</b>'), 'sold out today'],
  'an inline component in a word': [
    '<p>Sold o<x-part></x-part> today</p><script>document.querySelector("x-part").attachShadow({ mode: "open" }).innerHTML = "ut"</script>',
    'sold out today',
  ],
  'a frame': ['<iframe src="/frame"></iframe>', 'sold out in a frame'],
  'what is typed into a field': '<input id="f"><script>f.value = "Sold out"</script>',
  'what is typed into a long field': [
    '<textarea id="f">In stock</textarea><script>f.value = "Sold out\\ntoday"</script>',
    'sold out today',
  ],
  'the hint in an empty field': '<input placeholder="Sold out">',
  'the chosen option': '<select id="f"><option>In stock<option>Sold out</select><script>f.value = "Sold out"</script>',
  'the label of an option': '<select><option label="Sold out">5</option></select>',
  'a list of options': '<select multiple size="2"><option>In stock<option>Sold out</select>',
  'the label of a button': '<input type="submit" value="Sold out">',
  'a button without a label': ['<form><input type="submit"></form>', 'submit'],
  'a field of a component': host('open', '<input value="Sold out">'),
  'a date': ['<input type="date" value="2026-03-09">', '03/09/2026'],
  'a time': ['<input type="time" value="21:30">', '09:30 pm'],
  'generated text': '<style>p::after { content: "Sold out" }</style><p></p>',
  'generated text in a word': '<style>b::before { content: "So" } b::after { content: " o" }</style><p><b>ld</b>ut</p>',
  'generated text of an attribute': '<style>p::before { content: attr(data-state) }</style><p data-state="Sold out"></p>',
  'escaped letters in generated text': '<style>p::before { content: "\\53old \\6fut" }</style><p></p>',
  'generated text of a component': host('open', '<style>:host::before { content: "Sold " }</style>out'),
  'numbers of headings': [
    '<style>body { counter-reset: h } h2 { counter-increment: h; counter-reset: s } h3 { counter-increment: s } h3::before { content: counter(h) "." counter(s, upper-roman) " " }</style><h2></h2><h3></h3><h2></h2><h3>Price</h3><h3>Stock</h3>',
    '2.II stock',
  ],
  'numbers of nested lists': [
    '<style>ol { counter-reset: i; list-style: none } li { counter-increment: i } li::before { content: counters(i, ".") " " }</style><ol><li>a<li>b<ol><li>c<li>d</ol><li>e</ol>',
    '2.2 d 3 e',
  ],
  'quotes of a quotation': ['<p>It is <q>sold out</q></p>', 'is “sold out”'],
  'the text in place of a broken image': '<img src="/missing.png" alt="Sold out">',
  'words in capitals by style': ['<p style="text-transform:capitalize">sold out</p>', 'Sold Out'],
  'letters of a background': '<h1 style="background:linear-gradient(red,blue);background-clip:text;color:transparent"><b>Sold out</b></h1>',
  'transparent letters with a shadow': '<p style="color:transparent;text-shadow:0 0 4px black">Sold out</p>',
  'transparent letters with an outline': '<p style="color:transparent;-webkit-text-stroke:1px red">Sold out</p>',
  'letters with a fill of their own': '<p style="color:transparent;-webkit-text-fill-color:navy">Sold out</p>',
  'pale words': '<p style="opacity:.4;color:rgb(0 0 0 / 30%)">Sold out</p>',
  'words below the window': '<p style="margin-top:3000px">Sold out</p>',
  'words that a reader scrolls to':
    '<div id="s" style="height:80px;overflow:auto"><p>Sold out</p><p style="height:20000px">x</p></div><script>s.scrollTop = 15000</script>',
  'the next page of a carousel':
    '<div style="width:300px;overflow:hidden;white-space:nowrap"><div style="transform:translateX(-300px)"><p style="display:inline-block;width:300px">Sold out</p><p style="display:inline-block;width:300px">x</p></div></div>',
  'words with a position in a box without height':
    '<div style="position:relative;height:90px"><div style="height:0;overflow:hidden"><p style="position:absolute">Sold out</p></div></div>',
  'letters of a size in a text without': '<p style="font-size:0"><span style="font-size:16px">Sold out</span></p>',
  'a page from right to left':
    '<script>document.dir = "rtl"</script><p style="white-space:nowrap">Sold out <span style="margin-right:3000px">x</span></p>',
  'a frame with words on its right': ['<iframe src="/frame" style="width:40px;direction:rtl"></iframe>', 'sold out in a frame'],
  'a marker of words': '<ul style="list-style-type:\'Sold \'"><li>out</ul>',
  'the content of a marker': '<style>li::marker { content: "Sold " }</style><ul><li>out</ul>',
  'the button of an image that is missing': '<input type="image" src="/missing.png" alt="Sold out">',
  'an image without a URL': '<img alt="Sold out">',
  'the name of a group of options': '<select size="3"><optgroup label="Sold out"><option>a</optgroup></select>',
  'what an object shows instead': '<object data="/missing.html" type="text/html">Sold out</object>',
  'generated text by a nested rule': '<style>p { b { &::before { content: "Sold " } } }</style><p><b>out</b></p>',
  'generated text of a variable':
    '<style>@layer a { @media all { .x, p > ::after { content: var(--t) } } } p { --t: " out" }</style><p><b>Sold</b></p>',
  'generated text of a part': `<style>::part(p)::before { content: "Sold " }</style>${host('open', '<p part="p">out</p>')}`,
  'pale words by a filter and a mask': '<p style="filter:blur(1px) opacity(.4);mask-image:linear-gradient(transparent,black)">Sold out</p>',
  'words below a mask of a picture': '<p style="mask-image:url(/page.css),linear-gradient(transparent,transparent)">Sold out</p>',
  'words in the color of a background behind a picture':
    '<div style="background:url(/a.png) white"><p style="color:white">Sold out</p></div>',
  'words in the color of the page over an image':
    '<div style="position:relative"><img src="/a.png" alt="" width="300" height="90" style="position:absolute"><p style="position:relative;color:white">Sold out</p></div>',
  'words in the color of the page over another box':
    '<div style="position:absolute;width:300px;height:90px;background:navy"></div><p style="position:relative;color:white">Sold out</p>',
  'words in the color of the page over a generated background':
    '<style>div::before { content: ""; position: absolute; inset: 0; background: navy; z-index: -1 }</style><div><p style="color:white">Sold out</p></div>',
  'words in the color of the page far below, over a box that stays in the window':
    '<div style="position:fixed;inset:0;z-index:-1"><img src="/a.png" alt="" width="800" height="600"></div><p style="margin-top:3000px;color:white">Sold out</p>',
  'words below the body of a page':
    '<style>html { background: navy } body { background: white; height: 9px }</style><p style="margin-top:300px;color:white">Sold out</p>',
  'words in the color of their background with a shadow': '<p style="background:white;color:white;text-shadow:0 0 4px black">Sold out</p>',
  'words in the color of a background that a filter changes':
    '<div style="background:white"><p style="color:white;filter:invert(1)">Sold out</p></div>',
  'words beside a background of their color':
    '<div style="background:navy"><div style="background:white;height:1px"><p style="color:white">Sold out</p></div></div>',
  'words in a frame of another color': '<iframe srcdoc="<p style=color:white>Sold out" style="background:navy"></iframe>',
  'dark words on a dark page': '<style>:root { color-scheme: dark } p { color: white }</style><p>Sold out</p>',
  'numbers of a list': ['<ol><li>Sold<li>out</ol>', '1. sold 2. out'],
  'numbers of a list from a start, with a value': ['<ol start="7"><li>Sold<li value="20">out<li>today</ol>', '7. sold 20. out 21. today'],
  'numbers of a list in reverse': [
    '<ol reversed><li>Sold<ol><li>x</ol><li>out<li style="display:none">y</ol><ol reversed start="9"><li>z<li>today</ol>',
    '2. sold 1. x 1. out 9. z 8. today',
  ],
  'letters and Roman numbers of lists': [
    '<ol type="a"><li>a<ol type="I"><li>b<li>c</ol><li>d</ol><ul style="list-style:lower-greek inside"><li>e</ul>',
    'a. a i. b ii. c b. d α. e',
  ],
  'numbers that a style sheet counts': [
    '<style>li { counter-increment: list-item 10 } ol { list-style: decimal-leading-zero }</style><ol><li>Sold<li>out</ol>',
    '10. sold 20. out',
  ],
  'numbers with a style of their own': [
    '<style>li::marker { content: "§" counter(list-item) " " }</style><ol start="3"><li>Sold out</ol>',
    '§3 sold',
  ],
  'generated text of a sheet in a sheet': '<style>@import "/page.css";</style><p>out</p>',
}

t.test('words that look the same break the same rule', async (t) => {
  for (const [name, html, word] of rowsOf(SAME)) {
    const { call } = await open(`<!doctype html><body>${html}`, {
      '/frame': '<p>Sold out in a frame</p>',
      '/page.css': { text: 'p::before { content: "Sold " }', contentType: 'text/css' },
    })
    const rules = { refusedWords: [], neededWords: [], refusedSelectors: [] }
    t.strictSame(await call('findBrokenRule', { ...rules, refusedWords: [word] }), { rule: 'contains', value: word }, name)
    t.equal(await call('findBrokenRule', { ...rules, neededWords: [word] }), null, `${name}, as a word that must be there`)
  }
})

/** Words that differ, or are not shown. */
const DIFFERENT: Readonly<Record<string, Row>> = {
  'other letters': ['<p>Sold out</p>', 'sold put'],
  'other accents': ['<p>Café</p>', 'cafe'],
  'a power': ['<p>10² m</p>', '102 m'],
  'two blocks': ['<p>So</p><p>ld</p>', 'sold'],
  'a component that is hidden': host('open', '<p style="display:none">Sold out</p>'),
  'a component with invisible words': host('open', '<p style="visibility:hidden">Sold out</p>'),
  'words beside the slot': host('open', '<p>In stock</p>', 'Sold out'),
  'styles and scripts of a component': host('open', '<style>/* sold out */</style><script>"sold out"</script>'),
  'two blocks of a component': [host('open', '<p>So</p><p>ld</p>'), 'sold'],
  'a password': '<input type="password" value="Sold out" placeholder="Sold out">',
  'a password that the page shows':
    '<input type="password" name="user[password]" value="Sold out"><script>document.querySelector("input").type = "text"</script>',
  'a field with another type and the use of a password': '<input autocomplete="section-a current-password" value="Sold out">',
  'a field that shows dots': '<input style="-webkit-text-security:disc" value="Sold out">',
  'a hidden field':
    '<input type="hidden" value="Sold out"><input hidden value="Sold out"><input style="visibility:hidden" value="Sold out">',
  'a transparent field': '<div style="opacity:0"><textarea>Sold out</textarea></div>',
  'the hint of a field with a value': '<input placeholder="Sold out" value="In stock">',
  'a hint that a label replaces': '<style>::placeholder { color: transparent }</style><input placeholder="Sold out">',
  'options that are not chosen': '<select><option>In stock<option>Sold out</select>',
  'the value of an option and of a box': '<select><option value="Sold out">a</select><input type="checkbox" value="Sold out">',
  'two fields side by side': ['<input value="So"><input value="ld">', 'sold'],
  'the tooltip of a link':
    '<style>a { position: relative } a::after { content: attr(data-tip); position: absolute; opacity: 0 }</style><a data-tip="Sold out">x</a>',
  'generated text that is not shown':
    '<style>p::before { content: "Sold out"; display: none } p::after { content: "Sold out"; visibility: hidden }</style><p>x</p>',
  'what screen readers say of an icon': '<style>p::before { content: "x" / "Sold out" }</style><p></p>',
  'the text of an image that is shown': '<img alt="Sold out" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">',
  'what a drawing defines and does not show': '<svg><defs><text y="20">Sold out</text></defs><title>Sold out</title></svg>',
  'a page for browsers without scripts': '<noscript>Sold out</noscript>',
  'transparent words': '<div style="opacity:0"><p>Sold <b>out</b></p></div>',
  'words that two opacities make transparent': '<div style="opacity:.1"><p style="opacity:.1">Sold out</p></div>',
  'letters without a size': '<p style="font-size:0">Sold out</p>',
  'letters without a color': '<p style="color:transparent">Sold out</p>',
  'letters without a color in a modern notation': '<p style="color:oklch(50% 0.1 20 / 0)">Sold out</p>',
  'a drawing without a color': '<svg><text y="20" fill="none">Sold out</text></svg>',
  'words that a filter makes transparent':
    '<p style="filter:opacity(0)">Sold out</p><div style="filter:contrast(.9) opacity(1%)"><p>Sold out</p></div>',
  'words that a filter turns gray': '<div style="background:white;filter:contrast(0)">Sold out</div>',
  'words behind a transparent mask':
    '<p style="mask-image:linear-gradient(transparent,transparent)">Sold out</p><div style="-webkit-mask:radial-gradient(rgb(0 0 0/0),oklch(0 0 0/.01)),none"><p>Sold out</p></div>',
  'words behind a mask without a size or light':
    '<p style="mask:linear-gradient(red,red) 0 0/0 0 no-repeat">Sold out</p><p style="mask:linear-gradient(black,black) luminance">Sold out</p>',
  'a field and generated text behind a transparent mask':
    '<style>p::before { content: "Sold out"; filter: opacity(0) }</style><p>x</p><input style="mask-image:linear-gradient(#0000,#0000)" value="Sold out">',
  'words in the color of their background':
    '<div style="background:rgb(200 0 0)"><p style="color:#c80000">Sold <b>out</b></p></div><section style="background:#fefefe"><p style="color:#fff">Sold out</p></section>',
  'words in the color of the page': '<p style="color:white">Sold out</p>',
  'words in the color of the background of a page':
    '<style>html { background: navy } p { color: navy; float: left }</style><p>Sold out</p>',
  'words in the color of a background around a pale and small box':
    '<div style="background:white"><div style="opacity:.5;transform:scale(.5)"><p style="color:white">Sold out</p></div></div>',
  'a field and generated text in the color of their background':
    '<style>p { background: red } p::before { content: "Sold out"; color: red }</style><p>x</p><input value="Sold out" style="background:white;color:white">',
  'generated text in the color of its own background':
    '<style>b::after { content: "Sold out"; color: blue; background: blue }</style><p>x<b></b></p>',
  'numbers that a list does not show': [
    '<ol style="list-style:none"><li>a</ol><ol><li style="display:block">a</ol><ul><li>a</ul><ol style="list-style-image:url(/a.png)"><li>a</ol><style>s::marker { content: none }</style><ol><s style="display:list-item">a</s></ol>',
    '1',
  ],
  'numbers left of the page': ['<style>body, ol { margin: 0; padding: 0 }</style><ol><li>a</ol>', '1'],
  'words for screen readers':
    '<style>span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip: rect(0, 0, 0, 0); white-space: nowrap }</style><a>x<span>Sold out</span></a>',
  'words in one pixel': '<div style="width:1px;height:1px;overflow:clip">Sold out</div>',
  'words that a path cuts away': '<p style="clip-path:inset(50%)">Sold out</p><p style="clip-path:circle(0)">Sold out</p>',
  'words in a closed panel': '<div style="height:0;overflow:hidden"><p>Sold out</p></div>',
  'words in a closed panel of a grid':
    '<div style="display:grid;grid-template-rows:0fr"><div style="min-height:0;overflow:hidden"><p>Sold out</p></div></div>',
  'words that an indent moves away':
    '<a style="display:block;width:90px;overflow:hidden;text-indent:-9999px">Sold out</a><a style="display:block;width:90px;overflow:hidden;white-space:nowrap;text-indent:100%">Sold out</a>',
  'words without a scale': '<p style="transform:scale(0)">Sold out</p><p style="scale:0 1">Sold out</p>',
  'words beside the page': '<p style="position:absolute;left:-9999px">Sold out</p><p style="position:absolute;top:-300px">Sold out</p>',
  'words far beside their box':
    '<div style="position:relative;overflow:hidden;height:90px"><p style="position:absolute;left:-9999px">Sold out</p></div>',
  'a closed menu beside the window': '<nav style="position:fixed;right:-300px;width:300px"><p>Sold out</p></nav>',
  'a button whose words are moved away': '<input type="submit" value="Sold out" style="text-indent:-9999px">',
  'generated text that is moved away': '<style>p::before { content: "Sold out"; position: absolute; left: -9999px }</style><p>x</p>',
  'a frame that is not shown':
    '<iframe srcdoc="Sold out" style="visibility:hidden"></iframe><iframe srcdoc="Sold out" style="opacity:0"></iframe><iframe srcdoc="Sold out" width="1" height="1"></iframe>',
  'what old browsers show of a frame': '<iframe src="http://other.test/">Sold out</iframe>',
  'what old browsers show of a meter': '<meter value="1">Sold out</meter><progress>Sold out</progress><video>Sold out</video>',
  'what closed details have': '<details><summary>x</summary><p>Sold out</p></details>',
  'content that is skipped': '<div style="content-visibility:hidden"><p>Sold out</p></div>',
  'the button of an image': '<input type="image" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=" alt="Sold out">',
}

t.test('words that look different, or are not shown, break no rule', async (t) => {
  for (const [name, html, word] of rowsOf(DIFFERENT)) {
    const { call } = await open(`<!doctype html><body>${html}`)
    t.equal(await call('findBrokenRule', { refusedWords: [word], neededWords: [], refusedSelectors: [] }), null, name)
  }
})

t.test('the saved text is composed, has the words of components, and keeps joiners', async (t) => {
  const saved: readonly (readonly [html: string, text: string])[] = [
    ['<p>Cafe\u0301</p>', 'Café'],
    ['<p>Liefer\u00ADzeit</p>', 'Lieferzeit'],
    ['<p>Sold\u200Bout</p>', 'Soldout'],
    ['<p>می\u200Cخواهم 👩\u200D🚀</p>', 'می\u200Cخواهم 👩\u200D🚀'],
    ['<p>half \uD83D</p>', 'half \uFFFD'],
    [host('open', '<h1>Item</h1><p>Sold  <b>out</b>\n today</p><ul><li>a</li><li>b</li></ul>'), 'Item\n\nSold out today\n\na\nb'],
    [host('open', '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>'), 'a\tb\nc'],
    [host('open', '<pre>a\n  b</pre>'), 'a\n  b'],
    [host('open', 'a<br>b'), 'a\nb'],
    ['<ul style="list-style-type:\'– \'"><li>a</ul><ol><li>b<li> c</ol>', 'a\n1. b\n2. c'],
  ]
  for (const [html, text] of saved) {
    const { call } = await open({ text: `<!doctype html><meta charset="utf-16le"><body>${html}`, contentType: 'text/html; charset=utf-8' })
    t.equal((await call('readText')).trim(), text.replace('\uFFFD', '\uFFFD'))
  }
})

// The saved HTML, opened from disk with scripts switched on, looks like the page.

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
  'noscript and a refresh': `<!doctype html><meta http-equiv="refresh" content="99;url=/frame"><noscript><style>p { color: red }</style></noscript><p>text</p><noscript><h1>Turn on scripts</h1></noscript>`,
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
    t.notMatch(html, /http-equiv="?refresh/i, `${name}: stays where it is`)
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
