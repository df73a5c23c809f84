const DATES = /^\/(CreationDate|ModDate) \(D:\d{14}[+-]\d\d'\d\d'\)/gm
const END_OF_OBJECT = 'endobj'

/**
 * Sets the dates of creation and change of Chromium's PDF, in place. The length does not change, so the offsets in the cross-reference table stay valid.
 * Chromium writes both dates uncompressed into the first object, and no file identifier.
 */
export function setDates(pdf: Buffer, time: Date): Buffer {
  const end = pdf.indexOf(END_OF_OBJECT)
  if (end === -1) return pdf
  const head = pdf.toString('latin1', 0, end)
  const date = `D:${time.toISOString().slice(0, 19).replaceAll(/\D/g, '')}+00'00'`
  for (const { index, 1: name } of head.matchAll(DATES)) pdf.write(`/${name} (${date})`, index, 'latin1')
  return pdf
}
