import t from 'tap'
import { DEFAULT_PLANS } from '../../../../../crds/src/usage/plans.ts'
import { aTakeGateway, PAGE, PICTURE } from './take-gateway.ts'

// Pictures in memory: which requests they save, and which checks they do not replace.

/** Counts requests to the bucket. */
function countReads({ files, objects }: Pick<ReturnType<typeof aTakeGateway>, 'files' | 'objects'>) {
  const count = { requests: 0 }
  const counted = <Args extends unknown[], T>(call: (...args: Args) => T) => {
    return (...args: Args): T => {
      count.requests++
      return call(...args)
    }
  }
  files.stat = counted(files.stat.bind(files))
  files.open = counted(files.open.bind(files))
  objects.read = counted(objects.read)
  objects.readText = counted(objects.readText)
  return count
}

t.test('GET /take of a picture in memory sends no request to the bucket', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(PAGE)
  await gateway.capture(link)
  t.equal((await gateway.get(link)).statusCode, 200)
  const reads = countReads(gateway)
  t.strictSame((await gateway.get(link)).rawPayload, PICTURE)
  t.equal((await gateway.get(link, { headers: { 'if-none-match': '"abc"' } })).statusCode, 304)
  const head = await gateway.get(link, { method: 'HEAD' })
  t.match(head, { statusCode: 200, payload: '', headers: { 'content-length': String(PICTURE.length) } })
  const range = await gateway.get(link, { headers: { range: 'bytes=2-4' } })
  t.match(range, { statusCode: 206, payload: 'pic', headers: { 'content-range': 'bytes 2-4/9', 'content-length': '3' } })
  t.equal((await gateway.get(link, { headers: { range: 'bytes=9-' } })).statusCode, 416)
  t.equal((await gateway.get(link, { headers: { range: 'bytes=2-4', 'if-range': '"another"' } })).statusCode, 200)
  t.match(await gateway.get(link.slice(0, -1), { method: 'HEAD' }), { statusCode: 403, payload: '' })
  t.equal(reads.requests, 0)
})

t.test('GET /take notices after three seconds that a picture was deleted', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(PAGE)
  await gateway.capture(link)
  t.equal((await gateway.get(link)).statusCode, 200)
  gateway.screenshots.remove()
  gateway.files.objects.clear()
  gateway.objects.objects.clear()
  gateway.later(2)
  t.equal((await gateway.get(link)).statusCode, 200)
  t.equal(gateway.screenshots.objects.size, 0)
  gateway.later(1)
  t.equal((await gateway.capture(link)).statusCode, 200)
  t.equal(gateway.screenshots.objects.size, 1, 'the page is captured again')
})

t.test('GET /take does not send the picture of another account', async (t) => {
  const gateway = aTakeGateway()
  gateway.putAccount({}, { name: 'other' })
  gateway.quota.set('other', { limit: 1 })
  const other = gateway.addKey({ accountName: 'other' })
  // The same query, which is parsed once.
  const get = (headers: Record<string, string>) => gateway.get(PAGE, { headers })
  const pending = [get(gateway.headers)]
  gateway.complete(await gateway.created(1))
  await pending[0]
  pending.push(get(other.headers))
  const screenshot = await gateway.created(2)
  t.equal(screenshot.spec.accountName, 'other')
  gateway.complete(screenshot)
  t.equal((await pending[1])?.statusCode, 200)
  const disposition = async (headers: Record<string, string>) => (await get(headers)).headers['content-disposition']
  t.not(await disposition(gateway.headers), await disposition(other.headers))
  t.equal(gateway.screenshots.objects.size, 2)
})

t.test('GET /take looks for the picture under another hash after the key ring has changed', async (t) => {
  let ring = { current: 'a', keys: { a: 'c2VjcmV0' } }
  const gateway = aTakeGateway({ keyRing: () => ring })
  const link = gateway.sign(PAGE)
  await gateway.capture(link)
  ring = { current: 'a', keys: { a: 'YW5vdGhlcg==' } }
  t.equal((await gateway.capture(link)).statusCode, 200)
  t.equal(gateway.screenshots.objects.size, 2)
})

t.test('GET /take refuses a link that was accepted before, after the plan of the account has changed', async (t) => {
  const { free, ...plans } = DEFAULT_PLANS
  const gateway = aTakeGateway({ plans: { ...plans, free: { ...free!, retentionDays: 1 } } })
  const link = gateway.sign(`${PAGE}&retention_days=20`)
  t.equal((await gateway.capture(link)).statusCode, 200)
  gateway.putAccount({ plan: 'free' })
  const response = await gateway.get(link)
  t.match({ status: response.statusCode, message: response.json().error.message }, { status: 400, message: /retention_days/ })
})

t.test('GET /take responds to all requests that wait for a capture, also above the limit of downloads', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(PAGE)
  const pending = Array.from({ length: 20 }, () => gateway.get(link))
  const others = [gateway.get(link, { method: 'HEAD' }), gateway.get(PAGE, { headers: gateway.headers })]
  gateway.complete(await gateway.created())
  for (const { statusCode, rawPayload } of await Promise.all(pending)) t.strictSame([statusCode, rawPayload], [200, PICTURE])
  t.match(await Promise.all(others), [{ statusCode: 200 }, { statusCode: 200 }], 'also a HEAD and a request with an API key')
  t.strictSame([gateway.screenshots.objects.size, gateway.quota.used], [1, 1], 'all wait for one capture')
})

t.test('GET /take responds to a waiting request while another one still looks for the cache entry', async (t) => {
  const gateway = aTakeGateway()
  const link = gateway.sign(PAGE)
  const first = gateway.get(link)
  const screenshot = await gateway.created()
  const { promise: pause, resolve: resume } = Promise.withResolvers<void>()
  const started = Promise.withResolvers<void>()
  const { objects } = gateway
  const { readText } = objects
  objects.readText = async (key, ...rest) => {
    if (!key.startsWith('cache/')) return readText(key, ...rest)
    started.resolve()
    await pause
    return undefined
  }
  const second = gateway.get(link)
  await started.promise
  gateway.complete(screenshot)
  const { promise: late, resolve: end } = Promise.withResolvers<undefined>()
  const timer = setTimeout(end, 5_000, undefined)
  t.equal((await Promise.race([first, late]))?.statusCode, 200)
  clearTimeout(timer)
  resume()
  t.equal((await second).statusCode, 200)
  t.equal(gateway.screenshots.objects.size, 1)
})
