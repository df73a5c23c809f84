import t from 'tap'
import { findRecord } from '../../../api-gateway/src/archive/find-record.ts'
import { unavailable } from '../../../api-gateway/src/common/errors.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import { aGateway, aScreenshot, NOW, SCREENSHOT_ID } from './fakes.ts'

const PATH = `/v1/screenshots/${SCREENSHOT_ID}`
const completed = (id = SCREENSHOT_ID): Screenshot => aScreenshot({ id, phase: 'Completed' })
const daysAgo = (days: number): string => newId('scr', new Date(NOW.getTime() - days * 86_400_000))

t.test('findRecord looks where a record is before where it goes', async (t) => {
  const order: string[] = []
  const look = (place: string) => async () => {
    order.push(place)
    return undefined
  }
  t.equal(
    await findRecord('acme', SCREENSHOT_ID, {
      screenshots: { find: look('live'), findLatest: look('latest'), findLive: () => undefined },
      archive: { find: look('archive') },
    }),
    undefined,
  )
  t.strictSame(order, ['live', 'archive'])
})

t.test('findRecord finds archived records while the API server is away, and says of others that it cannot know', async (t) => {
  const screenshots = {
    find: () => Promise.reject(unavailable('away')),
    findLatest: () => Promise.reject(new Error('asked')),
    findLive: () => undefined,
  }
  const found = await findRecord('acme', SCREENSHOT_ID, { screenshots, archive: { find: async () => completed() } })
  t.equal(found?.isLive, false)
  await t.rejects(findRecord('acme', SCREENSHOT_ID, { screenshots, archive: { find: async () => undefined } }), {
    code: 'SERVICE_UNAVAILABLE',
  })
})

t.test('the latest reading finds no record that another replica has deleted, although the cache still shows it', async (t) => {
  const screenshots = { find: async () => completed(), findLatest: async () => undefined, findLive: () => completed() }
  const deps = { screenshots, archive: { find: async () => undefined } }
  t.equal(await findRecord('acme', SCREENSHOT_ID, deps, { isLatest: true }), undefined)
  t.ok(await findRecord('acme', SCREENSHOT_ID, deps))
})

t.test('the latest reading takes the record of the cache while the API server is away', async (t) => {
  const away = () => Promise.reject(unavailable('away'))
  const screenshots = { find: away, findLatest: away, findLive: () => completed() }
  const found = await findRecord('acme', SCREENSHOT_ID, { screenshots, archive: { find: async () => undefined } }, { isLatest: true })
  t.equal(found?.isLive, true)
})

t.test('GET /screenshots/:id reads the cache, and with Cache-Control: no-cache the API server', async (t) => {
  const { app, screenshots, headers } = aGateway()
  screenshots.objects.set(SCREENSHOT_ID, completed())
  const url = `/v1/screenshots/${SCREENSHOT_ID}`
  t.equal((await app.inject({ url, headers })).statusCode, 200)
  screenshots.findLatest = async () => undefined
  t.equal((await app.inject({ url, headers })).statusCode, 200)
  t.equal((await app.inject({ url, headers: { ...headers, 'cache-control': 'max-age=0, No-Cache' } })).statusCode, 404)
})

t.test('a replica whose cache is late said of a completed capture that it is not completed yet', async (t) => {
  const { app, screenshots, files, headers } = aGateway()
  screenshots.objects.set(SCREENSHOT_ID, aScreenshot({ id: SCREENSHOT_ID, phase: 'Running' }))
  files.objects.set(objectKey('acme', SCREENSHOT_ID, 'png'), Buffer.from('x'))
  const download = () => app.inject({ url: `${PATH}/download`, headers })
  t.equal((await download()).statusCode, 409)
  screenshots.findLatest = async () => completed()
  t.equal((await download()).statusCode, 302)
})

t.test('a download of a pending record with Cache-Control: no-cache asked the API server twice', async (t) => {
  const { app, screenshots, headers } = aGateway()
  let asked = 0
  screenshots.findLatest = async () => {
    asked += 1
    return aScreenshot({ phase: 'Pending' })
  }
  const { statusCode } = await app.inject({ url: `${PATH}/download`, headers: { ...headers, 'cache-control': 'no-cache' } })
  t.strictSame([statusCode, asked], [409, 1])
})

t.test('findRecord asks nobody about what cannot be an id', async (t) => {
  const find = () => Promise.reject(new Error('asked'))
  t.equal(
    await findRecord('acme', '../x', { screenshots: { find, findLatest: find, findLive: () => undefined }, archive: { find } }),
    undefined,
  )
})

t.test('findRecord does not look for a foreign record in the archive', async (t) => {
  const screenshots = { find: async () => completed(), findLatest: async () => completed(), findLive: () => undefined }
  t.equal(await findRecord('other', SCREENSHOT_ID, { screenshots, archive: { find: () => Promise.reject(new Error('asked')) } }), undefined)
})

t.test('DELETE /screenshots/:id of an archived record buries it, removes its file, and is not found again', async (t) => {
  const { app, archive, files, headers } = aGateway()
  await archive.put('acme', [completed()])
  files.objects.set(objectKey('acme', SCREENSHOT_ID, 'png'), Buffer.from('x'))
  const remove = () => app.inject({ method: 'DELETE', url: PATH, headers })
  t.equal((await remove()).statusCode, 204)
  t.equal(files.objects.size, 0)
  t.equal((await remove()).statusCode, 404)
  t.equal((await app.inject({ url: PATH, headers })).statusCode, 404)
  t.strictSame((await app.inject({ url: '/v1/screenshots', headers })).json().data, [])
})

t.test('DELETE /screenshots/:id of a record that is archived in this moment succeeds', async (t) => {
  const { app, archive, screenshots, headers } = aGateway()
  screenshots.put(completed())
  screenshots.delete = async () => {
    await archive.put('acme', [completed()])
    screenshots.objects.clear()
    return false
  }
  t.equal((await app.inject({ method: 'DELETE', url: PATH, headers })).statusCode, 204)
  t.equal((await app.inject({ url: PATH, headers })).statusCode, 404)
})

t.test('DELETE /screenshots/:id succeeds when the record is archived or deleted concurrently', async (t) => {
  const { app, screenshots, headers } = aGateway()
  screenshots.put(completed())
  screenshots.delete = async () => false
  t.equal((await app.inject({ method: 'DELETE', url: PATH, headers })).statusCode, 204)
})

t.test('GET /screenshots merges live and archived records, and pages through both', async (t) => {
  const { app, archive, screenshots, headers } = aGateway()
  const ids = [1, 2, 3, 4, 5].map(daysAgo)
  for (const [n, id] of ids.entries()) {
    if (n % 2 === 0) await archive.put('acme', [completed(id)])
    else screenshots.put(completed(id))
  }
  const first = (await app.inject({ url: '/v1/screenshots?limit=3', headers })).json()
  const second = (await app.inject({ url: `/v1/screenshots?limit=3&cursor=${first.pagination.next_cursor}`, headers })).json()
  t.strictSame(
    [...first.data, ...second.data].map(({ id }) => id),
    ids,
  )
  t.strictSame(second.pagination, { limit: 3, offset: 0, has_more: false, next_cursor: null })
})

t.test('GET /screenshots oldest first lists the archive and then the live records', async (t) => {
  const { app, archive, screenshots, headers } = aGateway()
  const [archived, live] = [[5, 6].map(daysAgo), [1, 2, 3].map(daysAgo)]
  for (const id of live) screenshots.put(completed(id))
  await archive.put('acme', archived.map(completed))
  const page = async (query: string) => (await app.inject({ url: `/v1/screenshots?order=asc&limit=3${query}`, headers })).json()
  const first = await page('')
  const second = await page(`&cursor=${first.pagination.next_cursor}`)
  t.strictSame(
    [...first.data, ...second.data].map(({ id }) => id),
    [...archived.toReversed(), ...live.toReversed()],
  )
})

t.test('GET /screenshots sorted by completed_at lists live records, or fails if the range has archived ones', async (t) => {
  const { app, archive, screenshots, headers } = aGateway()
  const live = [1, 2, 3].map(daysAgo)
  for (const id of live) screenshots.put(completed(id))
  await archive.put('acme', [completed(daysAgo(5))])
  const refused = await app.inject({ url: '/v1/screenshots?sort=completed_at', headers })
  t.equal(refused.statusCode, 400)
  const { message, details } = refused.json().error
  t.match(details, [{ path: 'sort', code: 'archived' }])
  const bound = /created_after=([^,]+),/.exec(message)?.[1] ?? ''
  t.not(bound, '')
  const responded = await app.inject({ url: `/v1/screenshots?sort=completed_at&created_after=${bound}`, headers })
  t.equal(responded.statusCode, 200)
  t.strictSame(new Set(responded.json().data.map(({ id }: { id: string }) => id)), new Set(live))
})

t.test('a record whose file has expired shows it, and its download returns 410', async (t) => {
  const { app, archive, headers } = aGateway()
  const [kept, over] = [daysAgo(29.5), daysAgo(30)] as const
  await archive.put('acme', [completed(kept), completed(over)])
  const read = async (id: string) => (await app.inject({ url: `/v1/screenshots/${id}`, headers })).json()
  t.match(await read(over), { status: 'completed', download_url: null, download_url_expires_at: null })
  const { statusCode, body } = await app.inject({ url: `/v1/screenshots/${over}/download`, headers })
  t.equal(statusCode, 410)
  t.equal(JSON.parse(body).error.code, 'EXPIRED')
  const half = new Date(NOW.getTime() + 43_200_000)
  const expires = Date.parse((await read(kept)).download_url_expires_at)
  t.ok(expires <= half.getTime() && expires > half.getTime() - 1_000, 'the link ends with its file')
})
