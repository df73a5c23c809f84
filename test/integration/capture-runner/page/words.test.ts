import t from 'tap'
import { openLab } from './lab.ts'

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
