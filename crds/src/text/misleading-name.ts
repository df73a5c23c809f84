// Characters that make the name of a file misleading: in some programs, a name with U+202E reads backward, so that an .exe seems to be a .png. A name
// of dots and blanks is that of a folder, or of nothing.

import { HIDING, hasVisibleText, INVISIBLE, inJs, inRe2, SHAPING, type Spelling, TAGS, toRanges } from './visible.ts'

/**
 * Finds misleading characters. RE2 has no lookaround, so its pattern also finds the characters before and after them. Shaping characters only
 * hide between letters of ASCII, at the ends of a name, and more than two in a row. Tags are for flags: up to six, and U+E007F.
 */
function patternOf(spell: Spelling, before: '?<=' | '', after: '?=' | ''): string {
  const [hiding, shaping, tags] = [toRanges(HIDING, spell), toRanges(SHAPING, spell), toRanges(TAGS, spell)]
  const unshaped = `[ -~${hiding}${tags}]`
  return [
    `[${hiding}]`,
    `(${before}^|${unshaped})[${shaping}]+(${after}${unshaped}|$)`,
    `[${shaping}]{3,}`,
    `(${before}^|[^${spell('1f3f4')}${tags}])[${tags}]+`,
    `[${tags}]{8,}`,
    `[${spell('e0020')}-${spell('e007e')}]+(${after}[^${tags}]|$)`,
  ].join('|')
}

const MISLEADING_CHARACTER = new RegExp(`${patternOf(inJs, '?<=', '?=')}|^[.${toRanges(INVISIBLE, inJs)}]+$`, 'gu')

/** Finds such a character, in RE2. */
const MISLEADING_IN_RE2 = patternOf(inRe2, '', '')

/** True for a name with characters that hide or reorder others, and for one of dots and blanks. */
export const isMisleading = (name: string): boolean => replaceMisleading(name) !== name

/** The name with `_` in place of each such character. */
export const replaceMisleading = (name: string): string => name.replace(MISLEADING_CHARACTER, '_')

const NAMELESS_MESSAGE = 'must have a visible character besides dots'
const HIDING_MESSAGE = 'must not contain characters that hide or reorder text: leave out'

/** What is wrong with a misleading name. It continues the name of a field. */
export function toMisleadingMessage(name: string): string {
  if (!hasVisibleText(name.replaceAll('.', ''))) return NAMELESS_MESSAGE
  const at = name.search(MISLEADING_CHARACTER)
  const code = (name.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return `${HIDING_MESSAGE} U+${code} at position ${[...name.slice(0, at)].length + 1}`
}

/** The rules of the API server for a field. It cannot say which character it found: `find` exceeds its budget. */
export const misleadingRules = (field: string) =>
  [
    { rule: `self.matches(r'[^.${toRanges(INVISIBLE, inRe2)}]')`, message: `${field} ${NAMELESS_MESSAGE}` },
    { rule: `!self.matches(r'${MISLEADING_IN_RE2}')`, message: `${field} ${HIDING_MESSAGE} invisible characters and marks of direction` },
  ] as const
