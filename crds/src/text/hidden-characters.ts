// Characters that nobody sees, but that change what is seen: they move the cursor of a terminal, reorder a line (U+202E), or make two texts look the
// same. Texts of strangers contain them: titles of pages, names, responses of webhook receivers.

import { INVISIBLE_IN_JS, inJs, SHAPING, SPACES, toRanges } from './visible.ts'

/** With all formatting characters, also those that some fonts draw, and lone surrogates. */
const INVISIBLE = String.raw`${INVISIBLE_IN_JS}\p{Cf}\p{Cs}`
/** Hidden unless they follow a character that they can shape. */
const SHAPERS = toRanges(SHAPING, inJs)
const HIDDEN = new RegExp(
  String.raw`(?![${SHAPERS}${toRanges(SPACES, inJs)}])[${INVISIBLE}]|(?<![^\p{ASCII}${INVISIBLE}]\ufe0f?)[${SHAPERS}]`,
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
