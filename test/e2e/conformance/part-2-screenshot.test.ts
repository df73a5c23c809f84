import t from 'tap'
import { finished } from '../../support/cluster/api-client.ts'
import { createAndForget, INSTANT, isInstant, isRange, isTextOf, rest, testFields } from '../../support/cluster/conformance.ts'
import { page } from '../../support/servers/pages.ts'

// Part 2.1, and the rest of the full record (2.3).

const url = page('/quadrants')
const options = { viewport_width: 400, viewport_height: 300, dark_mode: true, authorization: 'Bearer hidden' }
const { body: created, status, headers } = await createAndForget(t, { url, options })

testFields(t, created, [
  ['spec 2.1: id is a string, the job identifier, with prefix scr_', 'id', isTextOf(/^scr_[0-9a-hjkmnp-tv-z]{26}$/)],
  ['spec 2.1: url is the URL to capture', 'url', (value) => value === url],
  ['spec 2.1: status is pending at creation', 'status', (value) => value === 'pending'],
  ['spec 2.1: created_at is ISO 8601 UTC with milliseconds', 'created_at', isInstant],
  ['spec 2.1: estimated_time is a range text <min>-<max>s', 'estimated_time', isRange],
])

t.test('spec 2.1: options is an echo of the effective options', async (t) => {
  const wanted = { viewport_width: 400, viewport_height: 300, dark_mode: true, authorization: '***', format: 'png', full_page: false }
  t.strictSame(created.options, wanted)
})

t.test('spec 2.1: the response of creation has these fields and no others', async (t) => {
  t.equal(status, 202)
  t.equal(headers.get('location'), `/api/v1/screenshots/${created.id}`)
  t.strictSame(Object.keys(created), ['id', 'url', 'status', 'options', 'created_at', 'estimated_time'])
})

t.test('spec 2.3: the full record of GET and of the list has id, status, download_url, and both names of the URL', async (t) => {
  const record = await finished(String(created.id))
  t.match(record, { id: created.id, status: 'completed', download_url: /^https?:\/\//, url, url_to_capture: url, options: created.options })
  t.match(record, { created_at: created.created_at, started_at: INSTANT, completed_at: INSTANT, download_url_expires_at: INSTANT })
  t.match(record, { storage_path: `users/default/${created.id}.png`, format: 'png', content_type: 'image/png', width: 400, height: 300 })
  t.match(record, { error: null, batch_id: null, external_identifier: null, truncated: false, cached: false, warnings: [], artifacts: [] })
  t.match(record, { metadata: { http_status: 200, final_url: url, page_title: String } })
  const { body: list } = await rest('GET', `/screenshots?url=${encodeURIComponent(url)}&limit=5`)
  const listed = list.data.find(({ id }: { id: string }) => id === created.id)
  t.strictSame(Object.keys(listed ?? {}), Object.keys(record))
})
