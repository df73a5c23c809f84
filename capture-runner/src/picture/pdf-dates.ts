/** The date that PDFs carry: two files of one page must not differ by the second in which they were printed. */
const DATE = "D:20000101000000+00'00'"
const DATES = /^\/(CreationDate|ModDate) \(D:\d{14}[+-]\d\d'\d\d'\)/gm
const END_OF_OBJECT = 'endobj'

/**
 * Sets the dates of a PDF of the browser's to 1 January 2000. Changes the buffer in place; its length stays, and with it the places that its
 * cross-reference table names. The browser writes both dates uncompressed into the first object, and no identifier.
 */
export function fixDates(pdf: Buffer): Buffer {
  const end = pdf.indexOf(END_OF_OBJECT)
  if (end === -1) return pdf
  const head = pdf.toString('latin1', 0, end)
  for (const { index, 1: name } of head.matchAll(DATES)) pdf.write(`/${name} (${DATE})`, index, 'latin1')
  return pdf
}
