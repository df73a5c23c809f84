// Characters that disguise the name of a file: in some programs, a name with U+202E reads backward, so that an .exe seems to be a .png.

/** Controls beyond ASCII, soft hyphens, marks of direction, zero width spaces, and line separators, as code points. */
const DISGUISES = ['80-9f', 'ad', '61c', '180e', '200b', '200e-200f', '2028-202e', '2060-206f', 'feff', 'fff9-fffb']
/** They shape emoji and the letters of some scripts. Between letters of ASCII and at the ends, they only hide. */
const JOINERS = ['200c-200d']

const toClass = (ranges: readonly string[], spell: (hex: string) => string): string =>
  `[${ranges.map((range) => range.split('-').map(spell).join('-')).join('')}]`

const inJs = (hex: string): string => `\\u{${hex}}`
const inRe2 = (hex: string): string => `\\x{${hex}}`
const DISGUISE = new RegExp(`${toClass(DISGUISES, inJs)}|(?<=^|[ -~])${toClass(JOINERS, inJs)}+(?=[ -~]|$)`, 'gu')

/** Finds a disguise, in RE2, which CEL rules use. */
export const DISGUISE_IN_RE2 = `${toClass(DISGUISES, inRe2)}|(^|[ -~])${toClass(JOINERS, inRe2)}+([ -~]|$)`

/** True for a name with characters that hide or reorder others. */
export const isDisguised = (name: string): boolean => undisguise(name) !== name

/** The name with `_` in place of each disguise. */
export const undisguise = (name: string): string => name.replace(DISGUISE, '_')

/** Message about a disguised name. It continues the name of a field. */
export const DISGUISED_NAME = 'must not contain characters that hide or reorder text, such as U+202E: leave them out'
