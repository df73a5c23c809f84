/**
 * Code points that show nothing: white space, control and format characters, fillers and variation selectors. They are spelled out, because
 * the classes of RE2 and JavaScript differ with their versions of Unicode.
 */
const INVISIBLE: readonly (readonly [first: number, last: number])[] = [
  [0x0, 0x20],
  [0x7f, 0xa0],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x1680, 0x1680],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x2000, 0x200f],
  [0x2028, 0x202f],
  [0x205f, 0x206f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
]

/** The ranges in the syntax of a class of characters in a regular expression. */
const toRanges = (spell: (hex: string) => string): string =>
  INVISIBLE.map((range) => [...new Set(range)].map((point) => spell(point.toString(16))).join('-')).join('')

/** The ranges for a class in a regular expression of JavaScript. */
export const INVISIBLE_IN_JS = toRanges((hex) => `\\u{${hex}}`)

const VISIBLE = new RegExp(`[^${INVISIBLE_IN_JS}]`, 'u')

/** True for text with at least one visible character. */
export const hasVisibleText = (text: string): boolean => VISIBLE.test(text)

/** The class of a visible character in RE2, which CEL rules use. */
export const VISIBLE_IN_RE2 = `[^${toRanges((hex) => `\\x{${hex}}`)}]`
