import t from 'tap'
import { capture, finished } from '../../support/cluster/api-client.ts'
import { createAndForget, rest, untilListed } from '../../support/cluster/conformance.ts'
import { eventually } from '../../support/eventually.ts'
import { page } from '../../support/servers/pages.ts'

// Parts 4.1 to 4.4 and 4.6: screenshots, single and in batches.

const url = page('/quadrants')
/** Delays the capture, because the test deletes the screenshot and does not need the picture. */
const held = { delay: 60_000 }
const list = (query = '') => rest('GET', `/screenshots${query}`)
const idsOf = async (query: string): Promise<string[]> => (await list(query)).body.data.map(({ id }: { id: string }) => id)
const remove = (id: string) => rest('DELETE', `/screenshots/${id}`)
const createBatch = (body: unknown) => rest('POST', '/screenshots/batch', body)
const finishedOf = (batch: { screenshots: { id: string }[] }) => Promise.all(batch.screenshots.map(({ id }) => finished(id)))

t.test('spec 4.1: POST /v1/screenshots creates one job', async (t) => {
  const { status, body, headers } = await createAndForget(t, { url, options: held })
  t.equal(status, 202)
  t.match(body, { id: /^scr_/, status: 'pending' })
  t.equal(headers.get('retry-after'), '2')
})

t.test('spec 4.1: url may be given inside options', async (t) => {
  const { status, body } = await createAndForget(t, { options: { url, ...held } })
  t.strictSame([status, body.url], [202, url])
  t.notOk('url' in body.options)
})

t.test('spec 4.1: url at top level wins over the one in options', async (t) => {
  t.equal((await createAndForget(t, { url, options: { url: page('/dark'), ...held } })).body.url, url)
})

t.test('spec 4.1: url is required', async (t) => {
  const { status, body } = await createAndForget(t, { options: {} })
  t.equal(status, 400)
  t.match(body.error.details, [{ path: 'url', code: 'required' }])
})

t.test('spec 4.1: options is optional', async (t) => {
  t.equal((await createAndForget(t, { url })).status, 202)
})

t.test('spec 4.2: GET /v1/screenshots lists screenshots, newest first', async (t) => {
  const external_identifier = `newest-${Date.now()}`
  const { body: first } = await createAndForget(t, { url, external_identifier, options: held })
  const { body: second } = await createAndForget(t, { url, external_identifier, options: held })
  await untilListed(`/api/v1/screenshots?external_identifier=${external_identifier}`, [second.id, first.id])
  const { status, body } = await list()
  t.equal(status, 200)
  const ids: string[] = body.data.map(({ id }: { id: string }) => id)
  t.ok(ids.indexOf(second.id) < ids.indexOf(first.id))
  t.strictSame([...ids].sort().slice(0, 3), ids.slice(0, 3), 'ids sort from the newest to the oldest')
  t.match(body, { success: true, pagination: { limit: 100, offset: 0, has_more: Boolean } })
})

t.test('spec 4.2: the list is paged by limit and cursor, and by offset', async (t) => {
  const mark = `page-${Date.now()}`
  const whole: string[] = []
  for (let n = 0; n < 3; n++) whole.unshift((await createAndForget(t, { url, external_identifier: mark, options: held })).body.id)
  await untilListed(`/api/v1/screenshots?external_identifier=${mark}`, whole)
  const { pagination } = (await list(`?external_identifier=${mark}&limit=2`)).body
  t.equal(pagination.has_more, true)
  const pages = ['limit=2', `limit=2&cursor=${pagination.next_cursor}`]
  t.strictSame((await Promise.all(pages.map((query) => idsOf(`?external_identifier=${mark}&${query}`)))).flat(), whole)
  t.strictSame(await idsOf(`?external_identifier=${mark}&offset=1`), whole.slice(1))
})

t.test('spec 4.2: the list is filtered by status, format, url, batch and time, and sorted', async (t) => {
  const mark = `filter-${Date.now()}`
  const before = new Date(Date.now() - 1000).toISOString()
  const done = await capture(page('/dark'), { format: 'jpeg' })
  t.teardown(() => remove(done.id))
  // This filter comes last, because its capture may wait longer for a runner than the request is held.
  const { body: waiting } = await createAndForget(t, { url, external_identifier: mark, options: { ...held, format: 'webp' } })
  const filtered = (query: string) => idsOf(`?created_after=${before}&${query}`)
  await untilListed(`/api/v1/screenshots?external_identifier=${mark}`, [waiting.id])
  for (const [query, has, lacks] of [
    ['status=pending', waiting.id, done.id],
    ['status=completed,failed', done.id, waiting.id],
    ['format=webp', waiting.id, done.id],
    [`url=${encodeURIComponent(page('/dark'))}`, done.id, waiting.id],
    ['sort=completed_at&status=completed', done.id, waiting.id],
  ] as const) {
    const ids = await filtered(query)
    t.ok(ids.includes(has), query)
    t.notOk(ids.includes(lacks), query)
  }
  const oldest = await filtered('order=asc')
  t.ok(oldest.indexOf(done.id) < oldest.indexOf(waiting.id))
  t.strictSame(await filtered(`created_before=${before}`), [])
})

t.test('spec 4.2: an unknown or malformed parameter is rejected', async (t) => {
  for (const query of ['?limit=0', '?limit=x', '?status=done', '?order=up', '?page=2', '?cursor=x', '?created_after=yesterday']) {
    const { status, body } = await list(query)
    t.strictSame([status, body.error.code], [400, 'VALIDATION_ERROR'], query)
  }
})

t.test('spec 4.3: GET /v1/screenshots/:id returns the job', async (t) => {
  const { id } = (await createAndForget(t, { url, options: held })).body
  const { status, body, headers } = await rest('GET', `/screenshots/${id}`)
  t.equal(status, 200)
  t.match(body, { id, status: 'pending', download_url: null })
  t.equal(headers.get('retry-after'), '2')
})

t.test('spec 4.3: polling is cheap: ?wait= holds the request, and an ETag returns 304', async (t) => {
  const { id } = (await createAndForget(t, { url, options: { delay: 1_000 } })).body
  const { body, headers } = await rest('GET', `/screenshots/${id}?wait=25`)
  t.equal(body.status, 'completed')
  const again = await rest('GET', `/screenshots/${id}`, undefined, { 'if-none-match': headers.get('etag') ?? '' })
  t.equal(again.status, 304)
})

t.test('spec 4.3: download_url is an absolute URL that needs no key, and /download redirects to it', async (t) => {
  const record = await capture(url)
  const file = await fetch(record.download_url ?? '')
  t.equal(file.headers.get('content-type'), 'image/png')
  t.equal(Number(file.headers.get('content-length')), record.file_size_bytes)
  const { status, headers } = await rest('GET', `/screenshots/${record.id}/download`)
  t.strictSame([status, headers.get('content-type')], [200, 'image/png'])
})

t.test('spec 4.4: DELETE /v1/screenshots/:id deletes the screenshot and its file', async (t) => {
  const own = `${url}?deleted=${Date.now()}`
  const record = await capture(own)
  const { status, body } = await remove(record.id)
  t.strictSame([status, body], [204, ''])
  t.equal((await rest('GET', `/screenshots/${record.id}`)).status, 404)
  t.equal((await fetch(record.download_url ?? '')).status, 404)
  await untilListed(`/api/v1/screenshots?url=${encodeURIComponent(own)}`, [])
  t.equal((await remove(record.id)).status, 404, 'the second DELETE finds nothing')
})

t.test('spec 4.6: urls has 1 to 100 items', async (t) => {
  for (const [count, wanted] of [
    [0, 400],
    [101, 400],
    [100, 202],
    [1, 202],
  ] as const) {
    const { status, body } = await createBatch({ urls: Array.from({ length: count }, () => url), options: held })
    t.equal(status, wanted, `${count} items`)
    if (wanted === 202) t.equal(body.total, count)
    await Promise.all((body.screenshots ?? []).map(({ id }: { id: string }) => remove(id)))
  }
})

t.test('spec 4.6: urls is required, an array of string', async (t) => {
  for (const wrong of [{}, { urls: url }, { urls: [1] }, { urls: null }]) {
    const { status, body } = await createBatch(wrong)
    t.equal(status, 400)
    t.ok(body.error.details.every(({ path }: { path: string }) => path.startsWith('urls')))
  }
})

t.test('spec 4.6: options are those of 2.2 and apply to every URL; each job is checked with GET', async (t) => {
  const { body } = await createBatch({ urls: [url, page('/dark')], options: { viewport_width: 400, viewport_height: 300, format: 'webp' } })
  for (const record of await finishedOf(body)) {
    t.match(record, { status: 'completed', format: 'webp', width: 400, height: 300, batch_id: body.batch_id })
    await remove(record.id)
  }
  t.equal((await createBatch({ urls: [url], options: { image_quality: 101 } })).status, 400)
})

t.test('spec 4.6: each job is processed independently', async (t) => {
  const { body } = await createBatch({ urls: [page('/hang-up'), url] })
  const records = await finishedOf(body)
  t.strictSame(
    records.map(({ status }) => status),
    ['failed', 'completed'],
  )
  // The replica that answers may learn of the end a moment after the replica that was waited on.
  const told = await eventually('the batch has ended', async () => {
    const answer = await rest('GET', `/batches/${body.batch_id}`)
    return answer.status === 200 && answer.body.data.pending === 0 && answer.body
  })
  t.match(told.data, { batch_id: body.batch_id, total: 2, pending: 0, completed: 1, failed: 1 })
  await Promise.all(records.map(({ id }) => remove(id)))
})

t.test('spec 4.6: a malformed URL rejects the whole batch, and the error names its index', async (t) => {
  const { status, body } = await createBatch({ urls: [url, 'no url', url, 'http://10.0.0.1/'] })
  t.equal(status, 400)
  t.match(body.error.details, [{ path: 'urls[1]' }, { path: 'urls[3]', code: 'url_not_allowed' }])
})
