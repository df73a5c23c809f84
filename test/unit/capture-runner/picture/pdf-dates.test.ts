import t from 'tap'
import { setDates } from '../../../../capture-runner/src/picture/pdf-dates.ts'

const pdf = (date: string, zone = "+00'00'") => `%PDF-1.4
1 0 obj
<</Title (A \\(CreationDate\\))
/Producer (Skia/PDF m156)
/CreationDate (D:${date}${zone})
/ModDate (D:${date}${zone})>>
endobj
2 0 obj
<</Text
/ModDate (D:${date}${zone})>>
endobj
`

const TIME = new Date('2026-01-15T12:00:00.500Z')

t.test('setDates sets the dates of a PDF, and changes only the first object', async (t) => {
  const fixed = setDates(Buffer.from(pdf('20261124004847', "-05'30'")), TIME).toString()
  t.match(fixed, "/CreationDate (D:20260115120000+00'00')\n/ModDate (D:20260115120000+00'00')>>")
  t.match(fixed, "<</Text\n/ModDate (D:20261124004847-05'30')>>")
  t.equal(fixed.length, pdf('20261124004847', "-05'30'").length)
})

t.test('setDates leaves other files and PDFs without dates unchanged', async (t) => {
  for (const text of ['', 'nothing', '%PDF-1.4\n1 0 obj\n<</Title (D:20261124004847)>>\nendobj']) {
    t.equal(setDates(Buffer.from(text), TIME).toString(), text)
  }
})
