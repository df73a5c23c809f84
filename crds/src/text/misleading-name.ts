// Characters that make the name of a file misleading: in some programs, a name with U+202E reads backward, so that an .exe seems to be a .png.

import { HIDING, inJs, inRe2, SHAPING, type Spelling, TAGS, toRanges } from './visible.ts'

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

const MISLEADING_CHARACTER = new RegExp(patternOf(inJs, '?<=', '?='), 'gu')

/** Finds such a character, in RE2. */
export const MISLEADING_IN_RE2 = patternOf(inRe2, '', '')

/** True for a name with characters that hide or reorder others. */
export const isMisleading = (name: string): boolean => replaceMisleading(name) !== name

/** The name with `_` in place of each such character. */
export const replaceMisleading = (name: string): string => name.replace(MISLEADING_CHARACTER, '_')

/** Message about a misleading name. It continues the name of a field. */
export const MISLEADING_NAME_MESSAGE = 'must not contain characters that hide or reorder text, such as U+202E: leave them out'
