// Characters that make the name of a file misleading: in some programs, a name with U+202E reads backward, so that an .exe seems to be a .png.

/** Controls beyond ASCII, soft hyphens, marks of direction, zero width spaces, and line separators, as code points. */
const MISLEADING = ['80-9f', 'ad', '61c', '180e', '200b', '200e-200f', '2028-202e', '2060-206f', 'feff', 'fff9-fffb']
/** They shape emoji and the letters of some scripts. Between letters of ASCII and at the ends, they only hide. */
const JOINERS = ['200c-200d']

const toClass = (ranges: readonly string[], spell: (hex: string) => string): string =>
  `[${ranges.map((range) => range.split('-').map(spell).join('-')).join('')}]`

const inJs = (hex: string): string => `\\u{${hex}}`
const inRe2 = (hex: string): string => `\\x{${hex}}`
const MISLEADING_CHARACTER = new RegExp(`${toClass(MISLEADING, inJs)}|(?<=^|[ -~])${toClass(JOINERS, inJs)}+(?=[ -~]|$)`, 'gu')

/** Finds such a character, in RE2, which CEL rules use. */
export const MISLEADING_IN_RE2 = `${toClass(MISLEADING, inRe2)}|(^|[ -~])${toClass(JOINERS, inRe2)}+([ -~]|$)`

/** True for a name with characters that hide or reorder others. */
export const isMisleading = (name: string): boolean => replaceMisleading(name) !== name

/** The name with `_` in place of each such character. */
export const replaceMisleading = (name: string): string => name.replace(MISLEADING_CHARACTER, '_')

/** Message about a misleading name. It continues the name of a field. */
export const MISLEADING_NAME_MESSAGE = 'must not contain characters that hide or reorder text, such as U+202E: leave them out'
