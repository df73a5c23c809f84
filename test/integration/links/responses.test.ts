import { text } from 'node:stream/consumers'
import t from 'tap'
import { toEntryText } from '../../../api-gateway/src/creation/entry-store.ts'
import { planScreenshots } from '../../../api-gateway/src/creation/plan.ts'
import type { NewObject } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import type { Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { eventually } from '../../support/eventually.ts'
import { startWorld } from '../api-gateway/world.ts'
import { accountsOf, captures, type LinkAccount, outcomeOf, PAGE, pictureOf, type TakeResponse, take } from './stage.ts'

// Responses to links as HTTP defines them, and what clients get while a capture is slow. A gateway that shuts down ends held requests at once, as the
// end of the time for holding requests does.

const world = await startWorld()
t.teardown(() => world.stop())
const gateway = await world.startGateway()
const createAccount = accountsOf(world, gateway)
const acme = await createAccount('acme')
const { end } = captures(world)

async function capture(account: LinkAccount, link: string) {
  const pending = take(gateway, link)
  const shot = await account.whenCreated(1)
  await end(shot)
  await pending
  return pictureOf(shot)
}
const link = await acme.sign(PAGE)
const picture = await capture(acme, link)

/** Headers that do not differ between two equal requests. */
const comparable = ({ headers: { date: _, age: _age, 'x-request-id': _id, 'cache-control': _caching, ...others } }: TakeResponse) => others

t.test('HEAD returns the headers of GET, without a body', async (t) => {
  const [got, head] = [await take(gateway, link), await take(gateway, link, { method: 'HEAD' })]
  t.strictSame([got.status, head.status, head.bytes.length], [200, 200, 0])
  t.strictSame(comparable(head), comparable(got))
  t.same(got.bytes, picture)
  t.match(head.headers, { 'content-type': 'image/png', 'content-length': String(picture.length), 'accept-ranges': 'bytes' })
  t.match(head.headers['cache-control'], /^public, max-age=86400, stale-while-revalidate=\d+$/)
  const refused = await take(
    gateway,
    link.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')),
    { method: 'HEAD' },
  )
  t.strictSame([refused.status, refused.bytes.length], [403, 0])
})

t.test('ranges and conditions work as for files', async (t) => {
  const size = picture.length
  const ask = (headers: Record<string, string>) => take(gateway, link, { headers })
  const etag = String((await ask({})).headers.etag)
  const part = await ask({ range: 'bytes=0-6' })
  t.match(part, { status: 206, headers: { 'content-range': `bytes 0-6/${size}`, 'content-length': '7' } })
  t.equal(part.bytes.toString(), 'picture')
  t.equal((await ask({ range: 'bytes=-3' })).bytes.toString(), picture.subarray(-3).toString())
  const beyond = await ask({ range: `bytes=${size}-` })
  t.strictSame([outcomeOf(beyond), beyond.headers['content-range']], ['416 RANGE_NOT_SATISFIABLE', `bytes */${size}`])
  t.equal((await ask({ range: 'bytes=0-6', 'if-range': '"another"' })).status, 200)
  t.equal((await ask({ range: 'bytes=0-6', 'if-range': etag })).status, 206)
  const known = await ask({ 'if-none-match': `"another", ${etag}` })
  t.strictSame([known.status, known.bytes.length, known.headers.etag], [304, 0, etag])
  t.match(known.headers['cache-control'], /^public/)
  t.equal((await ask({ 'if-none-match': '"another"' })).status, 200)
})

t.test('a request with an API key gets a private response', async (t) => {
  const response = await take(gateway, PAGE, { headers: { authorization: `Bearer ${acme.text}` } })
  t.match(response, { status: 200, headers: { 'cache-control': 'private, no-store' } })
  t.same(response.bytes, picture)
})

t.test('with on_error=image, an error is a picture with the same status', async (t) => {
  const expired = await acme.sign(`${PAGE}&on_error=image&expires=1`)
  const response = await take(gateway, expired)
  t.match(response, { status: 403, headers: { 'content-type': 'image/png', 'cache-control': 'no-store' } })
  t.equal(response.bytes.subarray(1, 4).toString(), 'PNG')
})

/**
 * Requests a link from a gateway that shuts down while it holds the request.
 * @param waits 2 for a request that starts the capture, because the gateway also waits in order to count it
 */
async function takeFromEnding(account: LinkAccount, query: string, waits: 1 | 2): Promise<TakeResponse> {
  const ending = await world.startGateway()
  const pending = take(ending, query)
  await account.whenCreated(1)
  await eventually('the gateway holds the request', async () =>
    (await (await fetch(`${ending.metricsUrl}/metrics`)).text()).includes(`\nhttp_requests_held ${waits}\n`),
  )
  const [response] = await Promise.all([pending, ending.stop()])
  return response
}

t.test('a slow capture redirects the client to the same link, which then has the picture', async (t) => {
  const account = await createAccount('slow')
  const query = await account.sign(`${PAGE}&utm_source=a+b`)
  const redirect = await takeFromEnding(account, query, 2)
  t.match(redirect, { status: 307, headers: { location: `?${query}`, 'cache-control': 'no-store' } })
  const target = new URL(String(redirect.headers.location), `${gateway.url}/v1/take`)
  t.equal(target.href, `${gateway.url}/v1/take?${query}`, 'relative to the link, it is the same URL')
  const again = take(gateway, query)
  const shot = await account.whenCreated(1)
  await end(shot)
  t.same((await again).bytes, pictureOf(shot))
  t.strictSame([(await account.shots()).length, await account.used()], [1, 1])
})

t.test('a capture that has not ended after 100 seconds returns 504', async (t) => {
  const account = await createAccount('hanging')
  const query = await account.sign(PAGE)
  t.equal((await takeFromEnding(account, query, 2)).status, 307)
  const flights: string[] = []
  for await (const { name } of world.bucket.listObjectsV2('tintype', 'idempotency/hanging/', true)) flights.push(name ?? '')
  const [place = ''] = flights
  t.strictSame([flights.length, /\/flight-[0-9a-f]{64}\.json$/.test(place)], [1, true], 'control: it is the flight')
  const { version: _, signature: __, ...entry } = JSON.parse(await text(await world.bucket.getObject('tintype', place)))
  // The same flight, as if it had begun 101 seconds ago.
  const plan = planScreenshots(new Date(Date.now() - 101_000), 1, false)
  const [shot] = await account.shots()
  const metadata = { name: toObjectName(plan.ids[0]!) }
  await world.screenshots.create({ metadata, spec: { ...shot!.spec, reservation: plan.reservation } } as NewObject<Screenshot>)
  await world.bucket.putObject('tintype', place, toEntryText(place, { ...entry, plan }, world.ring))
  t.equal(outcomeOf(await takeFromEnding(account, query, 1)), '504 CAPTURE_TIMEOUT')
  t.equal((await account.shots()).length, 2, 'no further capture was started')
})
