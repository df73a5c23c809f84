/** The beginning of a text, at most so many UTF-16 code units. Never ends with half of a character, and has no half of one anywhere. */
export const cutText = (text: string, length: number): string =>
  text
    .toWellFormed()
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')

/** What a record shows of an option that is elsewhere. */
export const CUT = '…'
/** What a record shows of a private option. */
export const MASK = '***'
/** Maximum characters that a record shows of a large option. */
const BEGINNING_LENGTH = 64

/** What a record shows of a large text. A part of a text keeps all of it in memory, so the result is a copy. */
export const toBeginning = (text: string): string =>
  text.length <= BEGINNING_LENGTH ? text : Buffer.from(`${text.slice(0, BEGINNING_LENGTH).toWellFormed()}${CUT}`).toString()
