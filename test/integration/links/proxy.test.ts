import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import { createDirectory } from '../../support/directory.ts'
import { startCachingNginx } from '../../support/servers/nginx.ts'
import { call } from '../api-gateway/client.ts'
import { fail } from '../api-gateway/runner-role.ts'
import { startWorld } from '../api-gateway/world.ts'
import { accountsOf, captures, outcomeOf, PAGE, pictureOf, take } from './stage.ts'

// Links behind a caching proxy, which stands for a CDN: nginx with the default rules of its cache, and the whole URI as its key.

const world = await startWorld()
t.teardown(() => world.stop())
const gateway = await world.startGateway()
const createAccount = accountsOf(world, gateway)
const { end, cacheSince } = captures(world)
const directory = await createDirectory(t, 'cache')
const proxy = await startCachingNginx({ directory, upstream: gateway.url })
t.teardown(() => proxy.stop())

/** Outcome of a request to the proxy, and where the response comes from. */
const ask = async (query: string, headers: Record<string, string> = {}) => {
  const response = await take(proxy, query, { headers })
  return { outcome: `${outcomeOf(response)} ${response.headers['x-cache']}`, ...response }
}

/** Number of requests for links that the gateway has counted. */
async function requestsOfGateway(): Promise<number> {
  const text = await (await fetch(`${gateway.metricsUrl}/metrics`)).text()
  const counts = [...text.matchAll(/^screenshot_link_requests_total\{[^}]*\} (\d+)$/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

/** An account with a picture of the page. */
async function withPicture(name: string) {
  const account = await createAccount(name)
  const link = await account.sign(PAGE)
  const pending = take(gateway, link)
  const shot = await account.whenCreated(1)
  await end(shot)
  const { bytes } = await pending
  return { account, link, shot, bytes }
}

t.test('a caching proxy keeps the pictures of links, and each key has its own', async (t) => {
  const [one, two] = [await withPicture('one'), await withPicture('two')]
  t.notSame(one.bytes, two.bytes, 'control: the pictures of the accounts differ')
  for (const { link, shot } of [one, two]) {
    const first = await ask(link)
    t.equal(first.outcome, '200 MISS')
    const before = await requestsOfGateway()
    const second = await ask(link)
    t.equal(second.outcome, '200 HIT')
    t.same([first.bytes, second.bytes], [pictureOf(shot), pictureOf(shot)])
    t.equal((await ask(link, { range: 'bytes=0-6' })).bytes.toString(), 'picture')
    t.equal((await ask(link, { 'if-none-match': String(first.headers.etag) })).outcome, '304 HIT')
    t.equal(await requestsOfGateway(), before, 'no further request reaches the gateway')
  }
})

t.test('a caching proxy never keeps responses to requests with an API key', async (t) => {
  const { account, shot } = await withPicture('bearer')
  const headers = { authorization: `Bearer ${account.text}` }
  // A request with a key ignores key and signature of the query.
  const signed = await account.sign(`${PAGE}&utm_source=bearer`)
  for (const query of [PAGE, signed]) {
    for (let count = 0; count < 2; count++) {
      const { outcome, bytes } = await ask(query, headers)
      t.strictSame([outcome, bytes.toString()], ['200 MISS', pictureOf(shot).toString()])
    }
  }
  t.equal((await ask(PAGE)).outcome, '401 UNAUTHORIZED MISS', 'nobody else gets them')
})

t.test('a caching proxy never keeps errors and redirects', async (t) => {
  const account = await createAccount('errors')
  const link = await account.sign(PAGE)
  const forged = link.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'))
  for (let count = 0; count < 2; count++) t.equal((await ask(forged)).outcome, '403 LINK_INVALID MISS')
  const redirected = ask(link)
  const deleted = await account.whenCreated(1)
  await call(`${gateway.url}/v1/screenshots/${screenshotIdOf(deleted.metadata)}`, { method: 'DELETE', key: account.text })
  const { outcome, headers } = await redirected
  t.strictSame([outcome, headers.location], ['307 MISS', `?${link}`], 'the screenshot was deleted, so the client requests the link again')
  const broken = await account.sign('url=https://broken.example/')
  const failing = ask(broken)
  const shot = await account.whenCreated(1)
  await fail(screenshotIdOf(shot.metadata), { code: 'DNS_FAILED', message: 'broken.example does not resolve' }, world)
  t.equal((await failing).outcome, '422 CAPTURE_FAILED MISS')
  t.equal((await ask(broken)).outcome, '422 CAPTURE_FAILED MISS')
  const again = ask(link)
  await end(await account.whenCreated(2))
  t.equal((await again).outcome, '200 MISS', 'the link works after the redirect')
})

t.test('a caching proxy serves no picture after the end of the link, even if it ignores the age of the picture', async (t) => {
  const { account, shot } = await withPicture('ending')
  await cacheSince(shot.metadata.name, 3_600)
  const expires = Math.floor(Date.now() / 1_000) + 5
  const link = await account.sign(`${PAGE}&expires=${expires}`)
  t.equal((await ask(link)).outcome, '200 MISS')
  t.equal((await ask(link)).outcome, '200 HIT', 'control: it is kept until then')
  await sleep(expires * 1_000 - Date.now() + 1_000)
  t.match((await ask(link)).outcome, /^403 LINK_INVALID/)
})
