import t from 'tap'
import { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { CommaList, splitList } from '../../../../crds/src/runtime/settings.ts'
import { toAsciiForm } from '../../../../crds/src/text/ascii-form.ts'
import { cutText } from '../../../../crds/src/text/cut-text.ts'
import { findIllFormedText, findReservedName } from '../../../../crds/src/text/json.ts'
import { isMisleading, misleadingRules, replaceMisleading, toMisleadingMessage } from '../../../../crds/src/text/misleading-name.ts'
import { hasVisibleText, replaceHidden, toEscape } from '../../../../crds/src/text/visible.ts'
import { findNearestName, renameKeys, toCamelCase, toSnakeCase } from '../../../../crds/src/text/words.ts'
import { assertAccepts, assertEvery } from '../../../support/accepts.ts'

const escaped = (text: string): string => replaceHidden(text, toEscape)

/** By code point, so that this file contains none of them. */
const HIDDEN = [
  ...[0x00, 0x07, 0x08, 0x09, 0x0a, 0x0d, 0x1b, 0x1f, 0x7f, 0x80, 0x85, 0x9b, 0x9d, 0x9f, 0xad],
  ...[0x34f, 0x61c, 0x115f, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x2029],
  ...[0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2064, 0x2066, 0x2067, 0x2068, 0x2069, 0x206f],
  ...[0x3164, 0xd800, 0xdfff, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff9, 0xe0001, 0xe0041, 0xe01ef],
]

t.test('every hidden character is replaced, and JSON with its escapes has the same value', async (t) => {
  for (const point of HIDDEN) {
    const character = String.fromCodePoint(point)
    const name = `U+${point.toString(16)}`
    const replaced = replaceHidden(`a${character}b`, () => '?')
    t.equal(replaced, 'a?b', name)
    const json = JSON.stringify({ [`n${character}`]: `a${character}${character}b` })
    t.match(escaped(json), /^[\x20-\x7e]+$/, name)
    t.strictSame(JSON.parse(escaped(json)), JSON.parse(json), name)
  }
  t.equal(escaped(`\u{202e}gnp.exe`), String.raw`\u202egnp.exe`)
  t.equal(escaped(String.fromCodePoint(0xe0041)), String.raw`\udb40\udc41`)
})

t.test('texts of all scripts, symbols and emoji stay as they are', async (t) => {
  const scripts = ['plain ~text~ {}', 'Größe 12 €', '中文網頁', 'שלום', 'नमस्ते', '한국어']
  const symbols = ['a\u{a0}b\u{3000}c', '😀👍🏽', 'e\u{301}', '\u{fffd}']
  // Joiners and selectors between emoji or letters of Persian and Hindi.
  const joined = ['👩\u{200d}🚀', '❤\u{fe0f}\u{200d}🔥', 'می\u{200c}خواهم', 'क्\u{200d}ष']
  for (const text of [...scripts, ...symbols, ...joined]) t.equal(escaped(text), text)
})

const tags = (text: string): string => String.fromCodePoint(...[...text].map((letter) => 0xe0000 + letter.charCodeAt(0)))

t.test('a name whose characters hide or reorder others is misleading, and is not after the replacement', async (t) => {
  const points = [0x80, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069]
  const more = [
    0x115f, 0x1160, 0x17b4, 0x206f, 0x3164, 0xfeff, 0xffa0, 0xfff0, 0xfff9, 0x1bca0, 0x1d173, 0xe0001, 0xe0041, 0xe007f, 0xe0fff,
  ]
  const shaping = [0x34f, 0x180b, 0x180f, 0x200c, 0x200d, 0xfe00, 0xfe0f, 0xe0100, 0xe01ef]
  const characters = [...points, ...more, ...shaping].map((point) => String.fromCodePoint(point))
  const names = characters.flatMap((character) => [`a${character}gnp.exe`, `${character}a`, `a${character}`])
  assertAccepts(t, isMisleading, names, names.map(replaceMisleading))
  t.equal(replaceMisleading('invoice\u202egnp.exe'), 'invoice_gnp.exe')
  t.equal(replaceMisleading('a\u200db\u200d\u200dc'), 'a_b_c')
})

t.test('the message about a misleading name named U+202E, whatever it had', async (t) => {
  const hides = 'must not contain characters that hide or reorder text: leave out'
  t.equal(toMisleadingMessage('a\u200bb'), `${hides} U+200B at position 2`)
  t.equal(toMisleadingMessage('😀é\u{e0001}.png'), `${hides} U+E0001 at position 3`)
  t.equal(toMisleadingMessage('👩\u{200d}🚀 a\u{200d}b'), `${hides} U+200D at position 6`)
  t.equal(toMisleadingMessage('\ufe0f1'), `${hides} U+FE0F at position 1`)
})

t.test('a name of dots or blanks was taken', async (t) => {
  const blank = [' ', '   ', '.', '..', '...', '. .', '\u00a0', '\u3000.', '\u2800', '.\u200b', '\u3164']
  const visible = ['.a', 'a.', ' a', '-', '_', '.htaccess', '…', '。']
  assertAccepts(t, isMisleading, blank, [...visible, ...blank.map(replaceMisleading)])
  assertEvery(t, blank, (name) => toMisleadingMessage(name) === 'must have a visible character besides dots')
})

t.test('names in all scripts, with emoji and spaces, are not misleading', async (t) => {
  const names = ['shot.png', 'Größe 1.png', '中文.png', 'שלום.pdf', 'مرحبا 12.png', 'a\u{a0}b\u{3000}c.png']
  const joined = [
    '😀👍🏽.png',
    '1\u{fe0f}\u{20e3}.png',
    '👩\u{200d}🚀.png',
    '❤\u{fe0f}\u{200d}🔥',
    'می\u{200c}خواهم.png',
    'क्\u{200d}ष',
    '10\u{200c}ها',
  ]
  const selected = ['中\u{e0100}.png', '©\u{fe0f}', 'ᠠ\u{180b}', '👁\u{fe0f}\u{200d}🗨\u{fe0f}', `🏴${tags('gbsct')}\u{e007f}.png`]
  assertEvery(t, [...names, ...joined, ...selected], (name) => !isMisleading(name) && replaceMisleading(name) === name)
})

t.test('text that is hidden in the tags of a flag, or in selectors behind an emoji, is misleading', async (t) => {
  const flags = [`🏴${tags('gbeng')}.png`, `🏴${tags('all of a text')}\u{e007f}`, `🏁${tags('gbeng')}\u{e007f}`]
  for (const name of [...flags, '😀\u{fe00}\u{fe01}\u{fe02}']) t.ok(isMisleading(name), escape(name))
})

t.test('the patterns for CEL find what the pattern for JavaScript finds, and nothing is left after a replacement', async (t) => {
  const [named, hiding] = misleadingRules('name').map(
    ({ rule }) => new RegExp(/r'(.*)'/.exec(rule)?.[1]?.replaceAll('\\x{', '\\u{') ?? '', 'u'),
  )
  const parts = ['a', 'é', '.', '\u{202e}', '\u{200d}', '\u{fe0f}', '🏴', tags('g'), '\u{e007f}', '\u{e0001}', '\u{3164}']
  for (let n = 0; n < parts.length ** 4; n++) {
    const name = [0, 1, 2, 3].map((place) => parts[Math.floor(n / parts.length ** place) % parts.length]).join('')
    if ((!named?.test(name) || hiding?.test(name)) !== isMisleading(name) || isMisleading(replaceMisleading(name))) t.fail(escape(name))
  }
})

t.test('hasVisibleText ignores white space, control characters and characters without a picture', async (t) => {
  const visible = ['a', ' a ', '。', '📷', '👩‍👧', '\u200bא', '\ue000']
  const spaces = ['', ' ', '\t\r\n', '\u0085\u00a0', '\u3000', '\u2800']
  assertAccepts(t, hasVisibleText, visible, [...spaces, '\u0000', '\u200b\u200d', '\ufeff', '\u3164', '\ufe0f', '\u{e0020}'])
})

const forms: [text: string, ascii: string | undefined][] = [
  ['straße.example', 'xn--strae-oqa.example'],
  ['*.köln.example', '*.xn--kln-sna.example'],
  ['日本語.Example:8080', 'xn--wgv71a119e.Example:8080'],
  ['*://İzmir.example/*', '*://xn--izmir-7fd.example/*'],
  ['https://пример.example/путь?q=ё#é', 'https://xn--e1afmkfd.example/%D0%BF%D1%83%D1%82%D1%8C?q=%D1%91#%C3%A9'],
  ['*/naïve/*.png', '*/na%C3%AFve/*.png'],
  ['plain.example/%C3%A9?a=*', 'plain.example/%C3%A9?a=*'],
  ['[::1]:80', '[::1]:80'],
  ['', ''],
  ['caf*é.example', undefined],
  ['a\u3000b.example', undefined],
  ['é://a.example', undefined],
]
t.test('toAsciiForm writes host names in Punycode and other letters as browsers send them', async (t) => {
  for (const [text, ascii] of forms) t.equal(toAsciiForm(text), ascii, text)
})

const messageOf = (options: object): string | undefined => CaptureOptions.safeParse(options).error?.issues[0]?.message

t.test('options with international host names are refused with the form that browsers send', async (t) => {
  const refused: [options: object, form: string][] = [
    [{ blockRequests: ['*://*.straße.example/*'] }, '*://*.xn--strae-oqa.example/*'],
    [{ allowRequests: ['*/größe/*'] }, '*/gr%C3%B6%C3%9Fe/*'],
    [{ failIfRequestFailed: ['köln.example'] }, 'xn--kln-sna.example'],
    [{ proxyBypass: ['*.köln.example'] }, '*.xn--kln-sna.example'],
    [{ proxy: 'http://köln.example:3128' }, 'http://xn--kln-sna.example:3128'],
    [{ htmlBaseUrl: 'https://köln.example/é' }, 'https://xn--kln-sna.example/%C3%A9'],
    [{ referer: 'https://日本語.example/' }, 'https://xn--wgv71a119e.example/'],
  ]
  for (const [options, form] of refused) {
    t.equal(messageOf(options), `must be written as browsers send it: ${form}`)
    const [[name, value]] = Object.entries(options) as [[string, unknown]]
    t.equal(messageOf({ [name]: Array.isArray(value) ? [form] : form }), undefined, form)
  }
  for (const address of ['HTTPS://X.TEST', 'ftp://x.test/', 'x.test'])
    t.match(messageOf({ referer: address }), /^must be a URL that begins with http:\/\/ or https:\/\/, in small letters/, address)
  t.equal(messageOf({ blockRequests: ['a b'] }), 'must be printable ASCII without spaces')
  t.equal(messageOf({ blockRequests: ['*é*.example'] }), 'must be printable ASCII without spaces')
})

const reserved: [text: string, path: (string | number)[] | undefined][] = [
  ['{"options":{"headers":{"__proto__":"x"}}}', ['options', 'headers', '__proto__']],
  ['{"options":{"headers":{"\\u005f_proto__":"x"}}}', ['options', 'headers', '__proto__']],
  ['{"constructor":{}}', ['constructor']],
  ['{"urls":[{},{"a":[0,{"prototype":1}]}]}', ['urls', 1, 'a', 1, 'prototype']],
  ['{"options":{"html":"__proto__ constructor"}}', undefined],
  ['{"options":{"a":{"toString":1,"hasOwnProperty":1,"__proto":1}}}', undefined],
  ['["__proto__"]', undefined],
  ['null', undefined],
]
for (const [text, path] of reserved)
  t.test(`findReservedName finds ${path?.join('.') ?? 'nothing'} in ${text}`, async (t) =>
    t.strictSame(findReservedName(JSON.parse(text)), path),
  )

t.test('findReservedName reads no deeper than any schema, so that a deep value does not overflow the stack', async (t) => {
  const nested = (depth: number) => JSON.parse(`${'['.repeat(depth)}{"__proto__":1}${']'.repeat(depth)}`)
  t.equal(findReservedName(nested(60))?.length, 61)
  t.equal(findReservedName(nested(200_000)), undefined)
})

const texts: [text: string, path: (string | number)[] | undefined][] = [
  ['{"options":{"html":"\\ud83d"}}', ['options', 'html']],
  ['{"urls":["a","\\ude00b"]}', ['urls', 1]],
  ['{"a":{"\\ud83d":1}}', ['a', '\ud83d']],
  ['"\\ud83d"', []],
  ['{"a":["\\ud83d\\ude00","😀"]}', undefined],
]
for (const [text, path] of texts)
  t.test(`findIllFormedText finds ${path ?? 'no half of a pair'} in ${text}`, async (t) =>
    t.strictSame(findIllFormedText(JSON.parse(text)), path),
  )

const known = ['url', 'full_page', 'full_page_max_height', 'viewport_width', 'viewport_height', 'click', 'delay', 'format']
const cases: [string, string | undefined][] = [
  ['fullPage', 'full_page'],
  ['full-page', 'full_page'],
  ['fullpgae', 'full_page'],
  ['viewport_widht', 'viewport_width'],
  ['vieport_height', 'viewport_height'],
  ['FORMAT', 'format'],
  ['clik', 'click'],
  ['uri', 'url'],
  ['something_else', undefined],
  ['', undefined],
  ['x'.repeat(10_000), undefined],
]
for (const [name, nearest] of cases)
  t.test(`findNearestName takes ${name.slice(0, 20)} for ${nearest}`, async (t) => t.equal(findNearestName(name, known), nearest))

t.test('toSnakeCase and toCamelCase are inverse for every option', async (t) => {
  const names = Object.keys(CaptureOptions.shape)
  assertEvery(t, names, (name) => toCamelCase(toSnakeCase(name)) === name)
  assertEvery(t, names.map(toSnakeCase), (name) => /^[a-z]+(_[a-z]+)*$/.test(name))
  t.equal(toSnakeCase('viewportWidth'), 'viewport_width')
})

t.test('renameKeys renames the keys of an object, but not of nested objects', async (t) => {
  t.strictSame(renameKeys({ extraHeaders: { fooBar: 1 }, list: ['aB'] }, toSnakeCase), { extra_headers: { fooBar: 1 }, list: ['aB'] })
})

t.test('splitList drops blanks and empty items, and CommaList is empty when the variable is absent', async (t) => {
  t.strictSame(splitList(' a, b c ,,d,'), ['a', 'b c', 'd'])
  t.strictSame(splitList(' '), [])
  t.strictSame(CommaList.parse(undefined), [])
  t.strictSame(CommaList.parse('10.0.0.0/8, 192.0.2.0/24'), ['10.0.0.0/8', '192.0.2.0/24'])
})

t.test('cutText leaves no half of a character', async (t) => {
  for (const [text, length, cut] of [
    ['abc', 3, 'abc'],
    ['abc', 2, 'ab'],
    ['ab😀', 4, 'ab😀'],
    ['ab😀', 3, 'ab'],
    ['😀', 1, ''],
    ['a\uD83D', 9, 'a\uFFFD'],
    ['\uDE00b', 9, '\uFFFDb'],
  ] as const) {
    t.equal(cutText(text, length), cut)
  }
})
