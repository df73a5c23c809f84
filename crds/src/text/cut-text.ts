/** The beginning of a text, at most so many UTF-16 code units. Never ends with half of a character, and has no half of one anywhere. */
export const cutText = (text: string, length: number): string =>
  text
    .toWellFormed()
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')
