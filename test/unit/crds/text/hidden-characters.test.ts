import t from 'tap'
import { replaceHidden, toEscape } from '../../../../crds/src/text/hidden-characters.ts'

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
    t.equal(
      replaceHidden(`a${character}b`, () => '?'),
      'a?b',
      name,
    )
    const json = JSON.stringify({ [`n${character}`]: `a${character}${character}b` })
    t.match(escaped(json), /^[\x20-\x7e]+$/, name)
    t.strictSame(JSON.parse(escaped(json)), JSON.parse(json), name)
  }
  t.equal(escaped(`\u{202e}gnp.exe`), String.raw`\u202egnp.exe`)
  t.equal(escaped(String.fromCodePoint(0xe0041)), String.raw`\udb40\udc41`)
})

t.test('texts of all scripts, symbols and emoji stay as they are', async (t) => {
  const texts = [
    'plain ~text~ {}',
    'Größe 12 €',
    '中文網頁',
    'שלום',
    'नमस्ते',
    '한국어',
    'a\u{a0}b\u{3000}c',
    '😀👍🏽',
    'e\u{301}',
    '\u{fffd}',
  ]
  for (const text of texts) t.equal(escaped(text), text)
  // Joiners and selectors between emoji or letters of Persian and Hindi.
  for (const text of ['👩\u{200d}🚀', '❤\u{fe0f}\u{200d}🔥', 'می\u{200c}خواهم', 'क्\u{200d}ष']) t.equal(escaped(text), text)
})
