/** Fixed date in PDFs, so that two files of one page are identical. */
const DATE = "D:20000101000000+00'00'"
const DATES = /^\/(CreationDate|ModDate) \(D:\d{14}[+-]\d\d'\d\d'\)/gm
const END_OF_OBJECT = 'endobj'

/**
 * Sets the dates of Chromium's PDF to 1 January 2000, in place. The length does not change, so the offsets in the cross-reference table stay valid.
 * Chromium writes both dates uncompressed into the first object, and no file identifier.
 */
export function fixDates(pdf: Buffer): Buffer {
  const end = pdf.indexOf(END_OF_OBJECT)
  if (end === -1) return pdf
  const head = pdf.toString('latin1', 0, end)
  for (const { index, 1: name } of head.matchAll(DATES)) pdf.write(`/${name} (${DATE})`, index, 'latin1')
  return pdf
}
