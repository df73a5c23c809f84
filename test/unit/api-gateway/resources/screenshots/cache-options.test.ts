import t from 'tap'
import { cacheEntryKey, objectKey } from '../../../../../crds/src/records/storage-keys.ts'
import { aGateway, NOW, SCREENSHOT_ID } from '../../fakes.ts'

type Gateway = ReturnType<typeof aGateway>

const url = 'https://example.com/'
const post = async ({ app, headers }: Gateway, payload: object, path = '/screenshots') => {
  const response = await app.inject({ method: 'POST', url: `/v1${path}`, headers, payload })
  return { status: response.statusCode, body: response.json() }
}
const specsOf = ({ screenshots }: Gateway) => [...screenshots.objects.values()].map(({ spec }) => spec)

/** Puts a picture into the cache under that hash. */
async function keep({ objects, files }: Gateway, hash = ''): Promise<void> {
  const entry = { version: 1, id: SCREENSHOT_ID, completedAt: NOW.toISOString(), result: { format: 'png', etag: 'abc' } }
  await objects.write(cacheEntryKey('acme', hash), JSON.stringify(entry))
  files.objects.set(objectKey('acme', SCREENSHOT_ID, 'png'), Buffer.from('a'))
}

t.test('POST /screenshots stores nothing of the cache’s options but what came of them', async (t) => {
  const gateway = aGateway()
  const options = { cache: true, cache_ttl: 60, cache_key: 'a', delay: 5 }
  const { status, body } = await post(gateway, { url, options })
  t.match({ status, body }, { status: 202, body: { options: { delay: 5 } } })
  const [first] = specsOf(gateway)
  t.match(first, { options: { delay: 5 }, cacheAs: /^[0-9a-f]{64}$/, cachedFrom: undefined })
  t.strictSame(Object.keys(first?.options ?? {}), ['delay'])
  await keep(gateway, first?.cacheAs)
  await post(gateway, { url, options })
  t.match(specsOf(gateway)[1], { cachedFrom: first?.cacheAs, cacheAs: undefined })
})

t.test('POST /screenshots/batch looks for each address by itself, with the credentials that stood in it', async (t) => {
  const gateway = aGateway()
  const urls = ['https://ada:secret@example.com/', url]
  await post(gateway, { urls, options: { cache: true } }, '/screenshots/batch')
  const [signed, plain] = specsOf(gateway)
  t.equal(signed?.url, plain?.url)
  t.not(signed?.cacheAs, plain?.cacheAs)
  await keep(gateway, signed?.cacheAs)
  await post(gateway, { urls, options: { cache: true } }, '/screenshots/batch')
  t.match(specsOf(gateway).slice(2), [{ cachedFrom: signed?.cacheAs }, { cacheAs: plain?.cacheAs }])
})

t.test('POST /screenshots and its batch reject a retention above the plan’s', async (t) => {
  const gateway = aGateway()
  const refused = { status: 400, body: { error: { details: [{ path: 'retention_days', code: 'too_big', message: /at most 30/ }] } } }
  t.match(await post(gateway, { url, retention_days: 31 }), refused)
  t.match(await post(gateway, { url, options: { retention_days: 31 } }), refused)
  t.match(await post(gateway, { urls: [url], retention_days: 31 }, '/screenshots/batch'), refused)
  t.strictSame(specsOf(gateway), [])
  t.equal((await post(gateway, { url, retention_days: 30 })).status, 202)
  t.match(specsOf(gateway), [{ retentionDays: 30 }])
})
