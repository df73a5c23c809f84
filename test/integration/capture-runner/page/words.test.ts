import t from 'tap'
import { openLab } from './lab.ts'

const open = await openLab(t)

const host = (mode: string, inner: string, light = ''): string =>
  `<div id="host">${light}</div><script>document.getElementById('host').attachShadow({ mode: '${mode}' }).innerHTML = ${JSON.stringify(inner)}</script>`

/** What a page has, and what a rule names: they look the same. */
const SAME: Record<string, readonly [html: string, word: string]> = {
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
  'inline elements in a word': ['<p><b>So</b><i>ld</i> <span>o</span>ut</p>', 'sold out'],
  'a shadow root': [host('open', '<p>Sold out</p>'), 'sold out'],
  'a nested shadow root': [
    `${host('open', '<section id="inner"></section>')}<script>document.getElementById('host').shadowRoot.getElementById('inner')
      .attachShadow({ mode: 'open' }).innerHTML = 'Sold <b>out</b>'</script>`,
    'sold out',
  ],
  'a slot between words of a shadow root': [host('open', 'Sold <slot></slot> today', '<b>out</b>'), 'sold out today'],
  'an inline component in a word': [
    '<p>Sold o<x-part></x-part> today</p><script>document.querySelector("x-part").attachShadow({ mode: "open" }).innerHTML = "ut"</script>',
    'sold out today',
  ],
  'a frame': ['<iframe src="/frame"></iframe>', 'sold out in a frame'],
}

t.test('words that look the same break the same rule', async (t) => {
  for (const [name, [html, word]] of Object.entries(SAME)) {
    const { call } = await open(`<!doctype html><body>${html}`, { '/frame': '<p>Sold out in a frame</p>' })
    const rules = { refusedWords: [], neededWords: [], refusedSelectors: [] }
    t.strictSame(await call('findBrokenRule', { ...rules, refusedWords: [word] }), { rule: 'contains', value: word }, name)
    t.equal(await call('findBrokenRule', { ...rules, neededWords: [word] }), null, `${name}, as a word that must be there`)
  }
})

t.test('words that look different, or are not shown, break no rule', async (t) => {
  const different: Record<string, readonly [html: string, word: string]> = {
    'other letters': ['<p>Sold out</p>', 'sold put'],
    'other accents': ['<p>Café</p>', 'cafe'],
    'a power': ['<p>10² m</p>', '102 m'],
    'two blocks': ['<p>So</p><p>ld</p>', 'sold'],
    'a component that is hidden': [host('open', '<p style="display:none">Sold out</p>'), 'sold out'],
    'a component with invisible words': [host('open', '<p style="visibility:hidden">Sold out</p>'), 'sold out'],
    'words beside the slot': [host('open', '<p>In stock</p>', 'Sold out'), 'sold out'],
    'styles and scripts of a component': [host('open', '<style>/* sold out */</style><script>"sold out"</script>'), 'sold out'],
    'two blocks of a component': [host('open', '<p>So</p><p>ld</p>'), 'sold'],
  }
  for (const [name, [html, word]] of Object.entries(different)) {
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
  ]
  for (const [html, text] of saved) {
    const { call } = await open({ text: `<!doctype html><meta charset="utf-16le"><body>${html}`, contentType: 'text/html; charset=utf-8' })
    t.equal((await call('readText')).trim(), text.replace('\uFFFD', '\uFFFD'))
  }
})
