type Ranges = readonly (readonly [first: number, last: number])[]

// Code points that show nothing. They are spelled out, because the classes of RE2 and JavaScript differ with their versions of Unicode.

/** Spaces. They show nothing, but hide nothing either. */
const SPACES: Ranges = [
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x2800, 0x2800],
  [0x3000, 0x3000],
]
/** Joiners and variation selectors. They shape emoji and the letters of some scripts. */
export const SHAPING: Ranges = [
  [0x34f, 0x34f],
  [0x180b, 0x180d],
  [0x180f, 0x180f],
  [0x200c, 0x200d],
  [0xfe00, 0xfe0f],
  [0xe0100, 0xe01ef],
]
/** Tags. After U+1F3F4, they name the region of a flag, and U+E007F ends them. */
export const TAGS: Ranges = [[0xe0020, 0xe007f]]
/** Controls, marks of direction, format characters, fillers, and code points that Unicode keeps for such characters. */
export const HIDING: Ranges = [
  [0x0, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180e, 0x180e],
  [0x200b, 0x200b],
  [0x200e, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe001f],
  [0xe0080, 0xe00ff],
  [0xe01f0, 0xe0fff],
]
/** All of them. */
export const INVISIBLE: Ranges = [...SPACES, ...SHAPING, ...TAGS, ...HIDING]

/** Spells a code point, given in hexadecimal, in a regular expression. */
export type Spelling = (hex: string) => string
export const inJs: Spelling = (hex) => `\\u{${hex}}`
/** CEL rules use RE2. */
export const inRe2: Spelling = (hex) => `\\x{${hex}}`

/** The ranges for a class of characters in a regular expression. */
export const toRanges = (ranges: Ranges, spell: Spelling): string =>
  ranges.map((range) => [...new Set(range)].map((point) => spell(point.toString(16))).join('-')).join('')

/** The ranges of all invisible characters for a class in a regular expression of JavaScript. */
const INVISIBLE_IN_JS = toRanges(INVISIBLE, inJs)

const VISIBLE = new RegExp(`[^${INVISIBLE_IN_JS}]`, 'u')

/** True for text with at least one visible character. */
export const hasVisibleText = (text: string): boolean => VISIBLE.test(text)

/** The class of a visible character in RE2. */
export const VISIBLE_IN_RE2 = `[^${toRanges(INVISIBLE, inRe2)}]`

// Characters that nobody sees, but that change what is seen: they move the cursor of a terminal, reorder a line (U+202E), or make two texts look the
// same. Texts of strangers contain them: titles of pages, names, responses of webhook receivers.

/** With all formatting characters, also those that some fonts draw, and lone surrogates. */
const UNSEEN = String.raw`${INVISIBLE_IN_JS}\p{Cf}\p{Cs}`
/** Hidden unless they follow a character that they can shape. */
const SHAPERS = toRanges(SHAPING, inJs)
const HIDDEN = new RegExp(
  String.raw`(?![${SHAPERS}${toRanges(SPACES, inJs)}])[${UNSEEN}]|(?<![^\p{ASCII}${UNSEEN}]\ufe0f?)[${SHAPERS}]`,
  'gu',
)

/** Replaces each hidden character. */
export const replaceHidden = (text: string, replace: (character: string) => string): string =>
  text.replace(HIDDEN, (character) => replace(character))

/** `\u202e`, as JSON writes it: four digits for each UTF-16 code unit. */
export const toEscape = (character: string): string =>
  character
    .split('')
    .map((unit) => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
