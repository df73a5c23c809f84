import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { HttpCache } from '../../../../capture-runner/src/http-cache/http-cache.ts'
import { createPolicy, isShareable, isUsable, toBytes, toHeaderLines } from '../../../../capture-runner/src/http-cache/policy.ts'

const REQUEST = { method: 'GET', url: 'https://site.example/a.js', headers: {} }
const KEY = 'https://site.example https://site.example - https://site.example/a.js'

function aResponse(bytes = 10) {
  const policy = createPolicy(REQUEST, { status: 200, headers: { 'cache-control': 'max-age=600' } })
  if (!policy) throw new Error('it may be stored')
  return { policy, headers: [], body: Buffer.alloc(bytes, 1) }
}

/** The cache of a partition. @throws when the capture shares nothing */
function open(cache: HttpCache, account: string, partition: string) {
  const opened = cache.open(account, partition)
  if (!opened) throw new Error('it shares something')
  return opened
}

t.test('captures of one account and one partition share responses', async (t) => {
  const cache = new HttpCache()
  open(cache, 'a', 'batch').keep(KEY, aResponse())
  t.equal(open(cache, 'a', 'batch').find(KEY, REQUEST)?.body.length, 10)
  t.equal(open(cache, 'a', 'batch').find(`${KEY}?2`, REQUEST), undefined, 'another URL')
  t.equal(open(cache, 'a', 'batch').find(KEY, { ...REQUEST, headers: { cookie: 'a=b' } }), undefined, 'a REQUEST with a cookie')
})

t.test('another partition finds nothing, and a capture without one shares nothing', async (t) => {
  const cache = new HttpCache()
  open(cache, 'a', 'batch').keep(KEY, aResponse())
  t.equal(open(cache, 'a', 'other').find(KEY, REQUEST), undefined)
  t.equal(cache.open('a'), undefined)
  t.ok(open(cache, 'a', 'batch').find(KEY, REQUEST), 'the first one still does')
})

t.test('another account finds nothing, and the previous account’s responses are dropped', async (t) => {
  const cache = new HttpCache()
  const before = open(cache, 'a', 'batch')
  before.keep(KEY, aResponse())
  t.ok(cache.bytes > 0)
  t.equal(open(cache, 'b', 'batch').find(KEY, REQUEST), undefined)
  t.equal(cache.bytes, 0)
  t.equal(open(cache, 'a', 'batch').find(KEY, REQUEST), undefined, 'nor does the first account afterward')
})

t.test('a capture without the option drops another account’s responses', async (t) => {
  const cache = new HttpCache()
  open(cache, 'a', 'batch').keep(KEY, aResponse())
  cache.open('b')
  t.equal(cache.bytes, 0)
})

t.test('a capture of the previous account stores nothing', async (t) => {
  const cache = new HttpCache()
  const before = open(cache, 'a', 'batch')
  const after = open(cache, 'b', 'batch')
  before.keep(KEY, aResponse())
  t.equal(after.find(KEY, REQUEST), undefined)
  t.equal(before.find(KEY, REQUEST), undefined)
  t.equal(cache.bytes, 0)
})

t.test('the oldest responses are dropped to make room', async (t) => {
  const cache = new HttpCache({ maxBytes: 100_000 })
  const batch = open(cache, 'a', 'batch')
  for (const name of ['1', '2', '3']) batch.keep(name, aResponse(30_000))
  t.ok(batch.find('1', REQUEST), 'used last')
  batch.keep('4', aResponse(30_000))
  t.strictSame(
    ['1', '2', '3', '4'].filter((name) => batch.find(name, REQUEST)),
    ['1', '3', '4'],
  )
  t.ok(cache.bytes <= 100_000)
})

t.test('a response above 4 MiB is not stored', async (t) => {
  const cache = new HttpCache()
  const batch = open(cache, 'a', 'batch')
  batch.keep('fits', aResponse(4 * 2 ** 20))
  batch.keep('large', aResponse(5 * 2 ** 20))
  t.ok(batch.find('fits', REQUEST))
  t.equal(batch.find('large', REQUEST), undefined)
})

t.test('responses are dropped by age without any REQUEST', async (t) => {
  const cache = new HttpCache({ maxAgeMilliseconds: 5 })
  open(cache, 'a', 'batch').keep(KEY, aResponse())
  for (let look = 0; look < 1_000 && cache.bytes > 0; look++) await sleep(5)
  t.equal(cache.bytes, 0)
})

const URL = 'https://site.example/a.js'
const request = (headers: Record<string, string> = {}, url = URL, method = 'GET') => ({ method, url, headers })
const IMMUTABLE = 'public, max-age=31536000, immutable'
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toUTCString()

const responses: { name: string; headers: Record<string, string>; status?: number; asked?: Record<string, string>; isStored: boolean }[] = [
  { name: 'immutable', headers: { 'Cache-Control': IMMUTABLE }, isStored: true },
  { name: 'immutable without a lifetime', headers: { 'cache-control': 'immutable' }, isStored: true },
  { name: 'max-age', headers: { 'cache-control': 'max-age=60' }, isStored: true },
  { name: 'Expires in the future', headers: { date: inSeconds(0), expires: inSeconds(60) }, isStored: true },
  { name: 'ETag in addition', headers: { 'cache-control': 'max-age=60', etag: '"1"' }, isStored: true },
  { name: 'Age below max-age', headers: { 'cache-control': 'max-age=60', age: '30' }, isStored: true },
  { name: 'Vary: Accept-Encoding', headers: { 'cache-control': 'max-age=60', vary: 'Accept-Encoding' }, isStored: true },
  {
    name: 'Vary: Origin',
    headers: { 'cache-control': 'max-age=60', vary: 'Origin' },
    asked: { Origin: 'https://a.example' },
    isStored: true,
  },
  { name: 'Vary: accept, user-agent', headers: { 'cache-control': 'max-age=60', vary: 'accept, user-agent' }, isStored: true },
  { name: 'a browser’s request', headers: { 'cache-control': 'max-age=60' }, asked: { Accept: '*/*', Referer: URL }, isStored: true },
  { name: 'nothing about freshness', headers: {}, isStored: false },
  { name: 'only Last-Modified', headers: { 'last-modified': inSeconds(-1e7) }, isStored: false },
  { name: 'only public', headers: { 'cache-control': 'public', 'last-modified': inSeconds(-1e7) }, isStored: false },
  { name: 'only s-maxage', headers: { 'cache-control': 's-maxage=60' }, isStored: false },
  { name: 'max-age=0', headers: { 'cache-control': 'max-age=0' }, isStored: false },
  { name: 'Age above max-age', headers: { 'cache-control': 'max-age=60', age: '61' }, isStored: false },
  { name: 'Expires in the past', headers: { date: inSeconds(0), expires: inSeconds(-60) }, isStored: false },
  { name: 'Expires: 0', headers: { expires: '0' }, isStored: false },
  { name: 'private', headers: { 'cache-control': 'private, max-age=60' }, isStored: false },
  { name: 'Private in capitals', headers: { 'cache-control': 'PRIVATE, MAX-AGE=60' }, isStored: false },
  { name: 'no-store', headers: { 'cache-control': 'no-store, max-age=60' }, isStored: false },
  { name: 'no-cache', headers: { 'cache-control': 'no-cache, max-age=60' }, isStored: false },
  { name: 'no-store on a separate line', headers: { 'cache-control': 'max-age=60\nno-store' }, isStored: false },
  { name: 'must-revalidate', headers: { 'cache-control': 'max-age=60, must-revalidate' }, isStored: false },
  { name: 'Set-Cookie', headers: { 'cache-control': IMMUTABLE, 'Set-Cookie': 'a=b' }, isStored: false },
  { name: 'Clear-Site-Data', headers: { 'cache-control': IMMUTABLE, 'clear-site-data': '"cache"' }, isStored: false },
  { name: 'Vary: *', headers: { 'cache-control': IMMUTABLE, vary: '*' }, isStored: false },
  { name: 'Vary: Cookie', headers: { 'cache-control': IMMUTABLE, vary: 'Accept-Encoding, Cookie' }, isStored: false },
  { name: 'status 404', headers: { 'cache-control': IMMUTABLE }, status: 404, isStored: false },
  { name: 'status 301', headers: { 'cache-control': IMMUTABLE, location: '/b.js' }, status: 301, isStored: false },
  { name: 'status 206', headers: { 'cache-control': IMMUTABLE, 'content-range': 'bytes 0-1/2' }, status: 206, isStored: false },
  ...['Cookie', 'cookie', 'Authorization', 'Range', 'If-None-Match', 'If-Modified-Since'].map((name) => ({
    name: `a request with ${name}`,
    headers: { 'cache-control': IMMUTABLE },
    asked: { [name]: 'x' },
    isStored: false,
  })),
]

for (const { name, headers, status = 200, asked = {}, isStored } of responses) {
  t.test(`createPolicy ${isStored ? 'stores' : 'does not store'} a response: ${name}`, async (t) => {
    t.equal(createPolicy(request(asked), { status, headers }) !== undefined, isStored)
  })
}

t.test('isShareable is true only for GET over http or https, without credentials in the URL', async (t) => {
  t.ok(isShareable(request()))
  t.notOk(isShareable(request({}, URL, 'POST')))
  for (const url of ['data:text/css,', 'blob:https://site.example/1', 'https://a:b@site.example/', 'not a url'])
    t.notOk(isShareable(request({}, url)), url)
})

const stored = (headers: Record<string, string>, asked: Record<string, string> = {}) => {
  const policy = createPolicy(request(asked), { status: 200, headers })
  if (!policy) throw new Error('it is stored')
  return { policy, headers: [], body: Buffer.from('x') }
}

t.test('isUsable is true for an equal request while the response is fresh', async (t) => {
  const found = stored({ 'cache-control': 'max-age=60' })
  t.ok(isUsable(found, request()))
  Object.assign(found.policy, { now: () => Date.now() + 61_000 })
  t.notOk(isUsable(found, request()))
})

t.test('isUsable compares the headers that Vary names', async (t) => {
  const found = stored({ 'cache-control': IMMUTABLE, vary: 'Accept, Origin' }, { Accept: 'image/*', Origin: 'https://a.example' })
  t.ok(isUsable(found, request({ accept: 'image/*', origin: 'https://a.example' })))
  t.notOk(isUsable(found, request({ accept: '*/*', origin: 'https://a.example' })))
  t.notOk(isUsable(found, request({ accept: 'image/*', origin: 'https://b.example' })))
  t.notOk(isUsable(found, request({ accept: 'image/*' })))
})

t.test('isUsable is false for a request that identifies a user or needs the server', async (t) => {
  const found = stored({ 'cache-control': IMMUTABLE })
  for (const headers of [
    { Cookie: 'a=b' },
    { Authorization: 'x' },
    { Range: 'bytes=0-1' },
    { 'Cache-Control': 'no-cache' },
    { Pragma: 'no-cache' },
  ])
    t.notOk(isUsable(found, request(headers)), Object.keys(headers).join())
})

t.test('toHeaderLines drops hop-by-hop headers, and splits joined lines', async (t) => {
  const headers = { ':status': '200', 'Content-Type': 'text/css', Connection: 'keep-alive', 'Transfer-Encoding': 'chunked', Link: 'a\nb' }
  t.strictSame(toHeaderLines(headers), [
    { name: 'Content-Type', value: 'text/css' },
    { name: 'Link', value: 'a' },
    { name: 'Link', value: 'b' },
  ])
})

t.test('toBytes returns a body only if it equals the loaded bytes', async (t) => {
  t.strictSame(toBytes({ body: 'AQI=', base64Encoded: true }, 2), Buffer.from([1, 2]))
  t.equal(toBytes({ body: 'AQI=', base64Encoded: true }, 3), undefined, 'another length')
  t.strictSame(toBytes({ body: 'é', base64Encoded: false }, 2), Buffer.from('é'))
  t.equal(toBytes({ body: 'é', base64Encoded: false }, 1), undefined, 'it was Latin-1')
  t.equal(toBytes({ body: 'a', base64Encoded: false }, 4), undefined, 'it had a byte order mark')
  t.equal(toBytes({ body: '\uFFFD', base64Encoded: false }, 3), undefined, 'it was not UTF-8')
})
