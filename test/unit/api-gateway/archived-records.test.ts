import t from 'tap'
import { findRecord } from '../../../api-gateway/src/archive/find-record.ts'
import { unavailable } from '../../../api-gateway/src/common/errors.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { Annotation } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { objectKey } from '../../../crds/src/records/storage-keys.ts'
import { aGateway, aScreenshot, NOW, SCREENSHOT_ID } from './fakes.ts'

const PATH = `/screenshots/${SCREENSHOT_ID}`
const completed = (id = SCREENSHOT_ID): Screenshot => aScreenshot({ id, phase: 'Completed' })
const daysAgo = (days: number): string => newId('scr', new Date(NOW.getTime() - days * 86_400_000), Buffer.alloc(10, 7))
const noCache = { 'cache-control': 'max-age=0, No-Cache' }

type Found = Screenshot | 'away' | undefined

/** What each store has, and what a reading returns: whether the record is live, or an error. */
const readings: [
  name: string,
  stores: Partial<Record<'cached' | 'latest' | 'archived', Found>>,
  live: boolean | string,
  latest: boolean | string,
][] = [
  ['no record', {}, 'none', 'none'],
  ['an archived record while the API server is away', { cached: 'away', latest: 'away', archived: completed() }, false, false],
  ['no record while the API server is away', { cached: 'away', latest: 'away' }, 'SERVICE_UNAVAILABLE', 'SERVICE_UNAVAILABLE'],
  ['a record that another replica has deleted', { cached: completed() }, true, 'none'],
  ['a record of the cache while the API server is away', { cached: completed(), latest: 'away' }, true, true],
]
for (const [name, stores, live, latest] of readings) {
  t.test(`findRecord with ${name}, in the cache and with the latest reading`, async (t) => {
    const give = (found: Found) => async () => (found === 'away' ? Promise.reject(unavailable('away')) : found)
    const { cached, archived } = stores
    const screenshots = {
      find: give(cached),
      findLatest: give(stores.latest),
      findLive: () => (cached === 'away' ? undefined : cached),
    }
    const read = (isLatest: boolean) =>
      findRecord('acme', SCREENSHOT_ID, { screenshots, archive: { find: give(archived) } }, { isLatest }).then(
        (found) => found?.isLive ?? 'none',
        ({ code }) => code,
      )
    t.strictSame([await read(false), await read(true)], [live, latest])
  })
}

t.test(
  'findRecord looks where a record is before where it goes, and asks nobody about foreign records and what cannot be an id',
  async (t) => {
    const order: string[] = []
    const look = (place: string, found?: Screenshot) => async () => {
      order.push(place)
      return found
    }
    const stores = (found?: Screenshot) => ({
      screenshots: { find: look('live', found), findLatest: look('latest', found), findLive: () => undefined },
      archive: { find: look('archive') },
    })
    t.equal(await findRecord('acme', SCREENSHOT_ID, stores()), undefined)
    t.strictSame(order.splice(0), ['live', 'archive'])
    t.equal(await findRecord('other', SCREENSHOT_ID, stores(completed())), undefined)
    t.strictSame(order.splice(0), ['live'], 'a foreign record is not looked for in the archive')
    t.equal(await findRecord('acme', '../x', stores(completed())), undefined)
    t.strictSame(order, [])
  },
)

t.test('GET /screenshots/:id reads the cache, and with Cache-Control: no-cache the API server', async (t) => {
  const { call, screenshots } = aGateway()
  screenshots.put(completed())
  t.equal((await call('GET', PATH)).status, 200)
  screenshots.findLatest = async () => undefined
  t.equal((await call('GET', PATH)).status, 200)
  t.equal((await call('GET', PATH, undefined, noCache)).status, 404)
})

t.test('GET and DELETE /screenshots/:id return the same 404 for ids of other accounts, unknown ids and malformed ids', async (t) => {
  const { call, screenshots } = aGateway()
  const foreign = daysAgo(1)
  screenshots.put(aScreenshot({ id: foreign, accountName: 'other' }))
  for (const method of ['GET', 'DELETE'])
    for (const id of [foreign, daysAgo(2), 'nonsense', 'scr_'])
      t.match(await call(method, `/screenshots/${id}`), {
        status: 404,
        body: { success: false, error: { code: 'NOT_FOUND', message: 'screenshot not found' } },
      })
  t.equal(screenshots.objects.size, 1)
})

t.test('a replica whose cache is late said of a completed capture that it is not completed yet', async (t) => {
  const { call, screenshots, files } = aGateway()
  screenshots.put(aScreenshot({ id: SCREENSHOT_ID, phase: 'Running' }))
  files.objects.set(objectKey('acme', SCREENSHOT_ID, 'png'), Buffer.from('x'))
  t.match(await call('GET', `${PATH}/download`), { status: 409, body: { error: { code: 'NOT_READY' } } })
  screenshots.findLatest = async () => completed()
  t.equal((await call('GET', `${PATH}/download`)).status, 302)
})

t.test('a download of a pending record with Cache-Control: no-cache asked the API server twice', async (t) => {
  const { call, screenshots } = aGateway()
  let asked = 0
  screenshots.findLatest = async () => {
    asked += 1
    return aScreenshot({ phase: 'Pending' })
  }
  t.equal((await call('GET', `${PATH}/download`, undefined, noCache)).status, 409)
  t.equal(asked, 1)
})

t.test('DELETE /screenshots/:id of an archived record buries it, removes its file, and is not found again', async (t) => {
  const { call, archive, files } = aGateway()
  await archive.add([completed()])
  files.objects.set(objectKey('acme', SCREENSHOT_ID, 'png'), Buffer.from('x'))
  t.equal((await call('DELETE', PATH)).status, 204)
  t.equal(files.objects.size, 0)
  for (const method of ['DELETE', 'GET']) t.equal((await call(method, PATH)).status, 404)
  t.strictSame((await call('GET', '/screenshots')).body.data, [])
})

t.test('DELETE /screenshots/:id succeeds for a record that is archived or deleted at this moment', async (t) => {
  for (const isArchived of [true, false]) {
    const { call, archive, screenshots } = aGateway()
    screenshots.put(completed())
    screenshots.delete = async () => {
      if (isArchived) await archive.add([completed()])
      screenshots.remove()
      return false
    }
    t.equal((await call('DELETE', PATH)).status, 204)
    t.equal((await call('GET', PATH)).status, 404)
  }
})

t.test('DELETE /screenshots/:id of a record with open deliveries hides it, and leaves the object to the operator', async (t) => {
  const { call, screenshots } = aGateway()
  const open = { 'wh-1': { attempts: 1, at: NOW.toISOString(), state: 'open' } } as const
  screenshots.put(aScreenshot({ phase: 'Completed', status: { deliveries: { 'screenshot.completed': open } } }))
  t.equal((await call('DELETE', PATH)).status, 204)
  t.equal((await call('GET', PATH)).status, 404)
  t.strictSame((await call('GET', '/screenshots')).body.data, [])
  t.ok(screenshots.objects.get(SCREENSHOT_ID)?.metadata.annotations?.[Annotation.deleteRequested])
})

t.test('a record whose file has expired shows it, and its download returns 410', async (t) => {
  const { call, archive } = aGateway()
  const [kept, over] = [daysAgo(29.5), daysAgo(30)] as const
  await archive.add([completed(kept), completed(over)])
  const { body } = await call('GET', `/screenshots/${over}`)
  t.match(body, { status: 'completed', download_url: null, download_url_expires_at: null })
  t.match(await call('GET', `/screenshots/${over}/download`), { status: 410, body: { error: { code: 'EXPIRED' } } })
  const half = new Date(NOW.getTime() + 43_200_000)
  const expires = Date.parse((await call('GET', `/screenshots/${kept}`)).body.download_url_expires_at)
  t.ok(expires <= half.getTime() && expires > half.getTime() - 1_000, 'the link ends with its file')
})
