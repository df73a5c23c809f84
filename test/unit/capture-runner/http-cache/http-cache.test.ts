import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { HttpCache } from '../../../../capture-runner/src/http-cache/http-cache.ts'
import { createPolicy } from '../../../../capture-runner/src/http-cache/policy.ts'

const request = { method: 'GET', url: 'https://site.example/a.js', headers: {} }
const KEY = 'https://site.example https://site.example - https://site.example/a.js'

function aResponse(bytes = 10) {
  const policy = createPolicy(request, { status: 200, headers: { 'cache-control': 'max-age=600' } })
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
  t.equal(open(cache, 'a', 'batch').find(KEY, request)?.body.length, 10)
  t.equal(open(cache, 'a', 'batch').find(`${KEY}?2`, request), undefined, 'another URL')
  t.equal(open(cache, 'a', 'batch').find(KEY, { ...request, headers: { cookie: 'a=b' } }), undefined, 'a request with a cookie')
})

t.test('another partition finds nothing, and a capture without one shares nothing', async (t) => {
  const cache = new HttpCache()
  open(cache, 'a', 'batch').keep(KEY, aResponse())
  t.equal(open(cache, 'a', 'other').find(KEY, request), undefined)
  t.equal(cache.open('a'), undefined)
  t.ok(open(cache, 'a', 'batch').find(KEY, request), 'the first one still does')
})

t.test('another account finds nothing, and the previous account’s responses are dropped', async (t) => {
  const cache = new HttpCache()
  const before = open(cache, 'a', 'batch')
  before.keep(KEY, aResponse())
  t.ok(cache.bytes > 0)
  t.equal(open(cache, 'b', 'batch').find(KEY, request), undefined)
  t.equal(cache.bytes, 0)
  t.equal(open(cache, 'a', 'batch').find(KEY, request), undefined, 'nor does the first account afterward')
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
  t.equal(after.find(KEY, request), undefined)
  t.equal(before.find(KEY, request), undefined)
  t.equal(cache.bytes, 0)
})

t.test('the oldest responses are dropped to make room', async (t) => {
  const cache = new HttpCache({ maxBytes: 100_000 })
  const batch = open(cache, 'a', 'batch')
  for (const name of ['1', '2', '3']) batch.keep(name, aResponse(30_000))
  t.ok(batch.find('1', request), 'used last')
  batch.keep('4', aResponse(30_000))
  t.strictSame(
    ['1', '2', '3', '4'].filter((name) => batch.find(name, request)),
    ['1', '3', '4'],
  )
  t.ok(cache.bytes <= 100_000)
})

t.test('a response above 4 MiB is not stored', async (t) => {
  const cache = new HttpCache()
  const batch = open(cache, 'a', 'batch')
  batch.keep('fits', aResponse(4 * 2 ** 20))
  batch.keep('large', aResponse(5 * 2 ** 20))
  t.ok(batch.find('fits', request))
  t.equal(batch.find('large', request), undefined)
})

t.test('responses are dropped by age without any request', async (t) => {
  const cache = new HttpCache({ maxAgeMilliseconds: 5 })
  open(cache, 'a', 'batch').keep(KEY, aResponse())
  for (let look = 0; look < 1_000 && cache.bytes > 0; look++) await sleep(5)
  t.equal(cache.bytes, 0)
})
