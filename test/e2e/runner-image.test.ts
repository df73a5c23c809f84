import t from 'tap'
import { FAMILY_SAMPLES, SAMPLES, type Sample, scriptsPage } from '../support/attack/scripts-page.ts'
import { call, capture, download, finished, type RecordBody } from '../support/cluster/api-client.ts'
import { decode, isNear } from '../support/picture.ts'
import { page } from '../support/servers/pages.ts'

// Files of the deployed image: fonts, as the browser lists them in the record, and the package that draws PDFs.
// test/integration/complaints/fonts.test.ts checks which font draws which letter.

/** Maximum number of fonts that the record lists for a page. */
const MOST = 32

t.test('the deployed runner draws every script with its own font, and serif text with serif fonts', async (t) => {
  const half = Math.ceil(SAMPLES.length / 2)
  const serif = FAMILY_SAMPLES.filter(({ fontFamily }) => fontFamily === 'serif')
  for (const samples of [SAMPLES.slice(0, half), SAMPLES.slice(half), serif]) {
    const drawnWith = await fontsOf(samples)
    t.ok(drawnWith.length < MOST, 'the list is complete')
    for (const { name, families } of samples) {
      const isThere = families.some((family) => drawnWith.includes(family))
      t.ok(isThere, `${name} wants ${families.join(' or ')} of ${drawnWith.join(', ')}`)
    }
  }
})

async function fontsOf(samples: readonly Sample[]): Promise<readonly string[]> {
  const body = { options: { html: scriptsPage(samples), metadata_fonts: true } }
  const created = await call<RecordBody>('/api/v1/screenshots', { method: 'POST', body })
  if (created.status !== 202) throw new Error(`create answered ${created.status}: ${JSON.stringify(created.body)}`)
  const { metadata } = (await finished(created.body.id)) as RecordBody & { metadata: { fonts?: string[] } }
  return metadata.fonts ?? []
}

t.test('the deployed runner draws a PDF', async (t) => {
  const record = await capture(page('/pdf'), { viewport_width: 400, viewport_height: 200 })
  t.equal(record.status, 'completed')
  t.ok(isNear((await decode(await download(record))).at(390, 190), [0, 255, 0]))
})
