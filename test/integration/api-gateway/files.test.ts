import { randomBytes } from 'node:crypto'
import { Agent, get } from 'node:http'
import t from 'tap'
import { signLink } from '../../../crds/src/crypto/download-link.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from './client.ts'
import { complete } from './runner-role.ts'
import { startWorld } from './world.ts'

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
const gateway = await world.startGateway({ TINTYPE_MAX_DOWNLOADS: '2' })
const api = `${gateway.url}/v1`
const bytes = randomBytes(300_000)

/** A completed screenshot, as its record describes it. */
async function capture(options: object = {}, content = bytes) {
  const { body } = await call(`${api}/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/', options } })
  await complete(body.id, content, world)
  return (await call(`${api}/screenshots/${body.id}?wait=10`, { key })).body
}

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

t.test('a link serves the file with its type, and forbids browsers to guess another', async (t) => {
  const { download_url: link, id } = await capture({ format: 'jpeg' })
  const { status, headers, body } = await call(link)
  t.equal(status, 200)
  t.same(body, bytes)
  t.equal(headers.get('content-type'), 'image/jpeg')
  t.equal(headers.get('content-length'), String(bytes.length))
  t.equal(headers.get('content-disposition'), `inline; filename="${id}.jpeg"`)
  t.equal(headers.get('x-content-type-options'), 'nosniff')
  t.match(headers.get('content-security-policy'), 'sandbox')
  t.match(headers.get('cache-control'), 'private')
  t.match(headers.get('accept-ranges'), 'bytes')
  const head = await call(link, { method: 'HEAD' })
  t.equal(head.headers.get('content-length'), String(bytes.length))
  t.equal(head.body.length, 0)
})

t.test('additional files have their own links, and only requested files have one', async (t) => {
  const { artifacts, download_url: link, id } = await capture({ thumbnail_width: 100, save_html: true })
  t.match(artifacts, [
    { type: 'thumbnail', file_size_bytes: bytes.length },
    { type: 'html', file_size_bytes: bytes.length },
  ])
  const [thumbnail, html] = await Promise.all(artifacts.map((artifact: { download_url: string }) => call(artifact.download_url)))
  t.same(thumbnail.body, bytes)
  t.equal(thumbnail.headers.get('content-type'), 'image/png')
  t.equal(html.headers.get('content-type'), 'text/html; charset=utf-8')
  t.equal(
    html.headers.get('content-disposition'),
    `attachment; filename="${id}.html"`,
    'HTML of other sites is never displayed under the gateway’s origin',
  )
  t.match(html.headers.get('content-security-policy'), 'sandbox')
  // A file that exists but was not requested is never served, not even with a valid signature.
  const stray = `users/acme/${id}.txt`
  await world.bucket.putObject('tintype', stray, bytes, bytes.length)
  t.equal((await call(gateway.url + signLink({ key: stray, expires: inAnHour() }, world.ring))).status, 404)
  t.equal((await call(link)).status, 200)
})

t.test('a link returns 304 for a matching ETag', async (t) => {
  const { download_url: link } = await capture()
  const { headers } = await call(link)
  const again = await call(link, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  t.equal(again.status, 304)
  t.equal(again.body.length, 0)
})

t.test('a link serves ranges', async (t) => {
  const { download_url: link } = await capture()
  const size = bytes.length
  const cases = [
    { range: 'bytes=0-99', status: 206, start: 0, end: 100 },
    { range: `bytes=${size - 10}-`, status: 206, start: size - 10, end: size },
    { range: 'bytes=-7', status: 206, start: size - 7, end: size },
    { range: `bytes=5-${size * 2}`, status: 206, start: 5, end: size },
    { range: 'bytes=0-1,5-6', status: 200, start: 0, end: size },
    { range: 'nonsense', status: 200, start: 0, end: size },
  ]
  for (const { range, status, start, end } of cases) {
    const response = await call(link, { headers: { range } })
    t.equal(response.status, status, range)
    t.same(response.body, bytes.subarray(start, end), range)
    t.equal(response.headers.get('content-range'), status === 206 ? `bytes ${start}-${end - 1}/${size}` : null, range)
  }
  const beyond = await call(link, { headers: { range: `bytes=${size}-` } })
  t.equal(beyond.status, 416)
  t.equal(beyond.headers.get('content-range'), `bytes */${size}`)
  t.equal(beyond.body.error.code, 'RANGE_NOT_SATISFIABLE')
  const stale = await call(link, { headers: { range: 'bytes=0-9', 'if-range': '"another"' } })
  t.equal(stale.status, 200)
})

t.test('a link with any change is rejected', async (t) => {
  const record = await capture()
  const other = await capture()
  const link = new URL(record.download_url)
  const changed = (change: (url: URL) => void) => {
    const url = new URL(link)
    change(url)
    return url.href
  }
  const past = signLink({ key: record.storage_path, expires: Math.floor(Date.now() / 1000) - 1 }, world.ring)
  const links = [
    changed((url) => url.searchParams.set('expires', String(inAnHour() + 999_999))),
    changed((url) => url.searchParams.set('attachment', 'evil.html')),
    changed((url) => url.searchParams.set('attachment', '')),
    `${link}&attachment`,
    `${link}&attachment=&attachment=`,
    changed((url) => url.searchParams.delete('signature')),
    changed((url) => url.searchParams.set('signature', 'a.')),
    changed((url) => {
      url.pathname = new URL(other.download_url).pathname
    }),
    gateway.url + past,
  ]
  for (const forged of links) {
    const { status, body } = await call(forged)
    t.equal(status, 403, forged)
    t.equal(body.error.code, 'LINK_INVALID')
  }
})

t.test('a signed link names the file to save under', async (t) => {
  const { storage_path: path } = await capture()
  const { headers } = await call(gateway.url + signLink({ key: path, expires: inAnHour(), attachment: 'täglich "1".png' }, world.ring))
  t.equal(headers.get('content-disposition'), `attachment; filename="t_glich _1_.png"; filename*=UTF-8''t%C3%A4glich%20%221%22.png`)
})

t.test('a link serves only the file that the record describes', async (t) => {
  const { id, storage_path: path, download_url: link } = await capture()
  await world.bucket.putObject('tintype', path, Buffer.from('something else under the same name'))
  t.equal((await call(link)).status, 404)
  await world.bucket.putObject('tintype', `users/acme/${id}.html`, Buffer.from('<script>alert(1)</script>'))
  t.equal((await call(gateway.url + signLink({ key: `users/acme/${id}.html`, expires: inAnHour() }, world.ring))).status, 404)
  for (const foreign of ['records/acme/00000/tombstones/x', `users/acme/../other/${id}.png`, 'users/acme/x.png']) {
    t.not((await call(gateway.url + signLink({ key: foreign, expires: inAnHour() }, world.ring))).status, 200, foreign)
  }
})

t.test('a link to a deleted file returns 410 while its record exists, and 404 afterwards', async (t) => {
  const { storage_path: path, download_url: link } = await capture()
  await world.bucket.removeObject('tintype', path)
  const { status, body } = await call(link)
  t.equal(status, 410)
  t.equal(body.error.code, 'EXPIRED')
  const unknown = `users/acme/${newId('scr', new Date())}.png`
  t.equal((await call(gateway.url + signLink({ key: unknown, expires: inAnHour() }, world.ring))).status, 404)
})

t.test('links of the old key are valid while the key ring contains it', async (t) => {
  const { id, download_url: old } = await capture()
  const fresh = { current: 'b', keys: { ...world.ring.keys, b: randomBytes(32).toString('base64') } }
  await world.writeRing(fresh)
  await eventually('links are signed with the new key', async () => {
    const { body } = await call(`${api}/screenshots/${id}`, { key })
    return body.download_url.includes('signature=b.')
  })
  t.equal((await call(old)).status, 200)
  await world.writeRing({ current: 'b', keys: { b: fresh.keys.b } })
  await eventually('the old key is rejected', async () => (await call(old)).status === 403)
  await world.writeRing(world.ring)
  await eventually('the first key ring is restored', async () => (await call(old)).status === 200)
})

t.test('downloads above the limit return 503 until one ends', async (t) => {
  const { download_url: link } = await capture({}, randomBytes(20_000_000))
  const agent = new Agent()
  const slow = await Promise.all(
    [1, 2].map(
      () =>
        new Promise<() => void>((resolve) => {
          // The client reads nothing, so the sockets fill and the downloads stay open.
          const request = get(link, { agent }, (response) => resolve(() => response.destroy()))
          request.on('error', () => {})
        }),
    ),
  )
  const refused = await call(link)
  t.equal(refused.status, 503)
  t.equal(refused.body.error.code, 'TOO_MANY_DOWNLOADS')
  t.equal(refused.headers.get('retry-after'), '5')
  for (const end of slow) end()
  await eventually('a download is accepted again', async () => (await call(link)).status === 200)
  agent.destroy()
})

t.test('links have the requested lifetime and file name', async (t) => {
  const options = { external_identifier: 'order-7', attachment_name: 'Seite ä.png', download_url_ttl: 120 }
  const record = await capture(options)
  t.equal(record.external_identifier, 'order-7')
  const seconds = (Date.parse(record.download_url_expires_at) - Date.now()) / 1_000
  t.ok(seconds > 100 && seconds <= 240, `${seconds} s`)
  const { headers, body } = await call(record.download_url)
  t.same(body, bytes)
  t.equal(headers.get('content-disposition'), `attachment; filename="Seite _.png"; filename*=UTF-8''Seite%20%C3%A4.png`)
  const { status } = await call(record.download_url.replace('Seite', 'Site'))
  t.equal(status, 403, 'the signature covers the name')
})

t.test('links lead directly to the store if it has a public URL', async (t) => {
  const open = await world.startGateway({ TINTYPE_STORAGE_PUBLIC_URL: world.store.endpoint })
  const { id } = await capture({ format: 'webp', attachment_name: 'Seite ä.webp' })
  const read = () => call(`${open.url}/v1/screenshots/${id}`, { key })
  const record = (await read()).body
  t.ok(record.download_url.startsWith(`${world.store.endpoint}/tintype/users/acme/${id}.webp?`))
  const { status, headers, body } = await call(record.download_url)
  t.equal(status, 200)
  t.same(body, bytes)
  t.equal(headers.get('content-type'), 'image/webp')
  t.equal(headers.get('content-disposition'), `attachment; filename="Seite _.webp"; filename*=UTF-8''Seite%20%C3%A4.webp`)
  const signedUntil = new URL(record.download_url).searchParams
  const signedAt = signedUntil.get('X-Amz-Date')?.replace(/(....)(..)(..T..)(..)(..)Z/, '$1-$2-$3:$4:$5Z') ?? ''
  t.equal(Date.parse(signedAt) + Number(signedUntil.get('X-Amz-Expires')) * 1_000, Date.parse(record.download_url_expires_at))
  t.equal((await read()).body.download_url, record.download_url, 'the same link is returned again')
  const redirect = await call(`${open.url}/v1/screenshots/${id}/download`, { key })
  t.equal(redirect.headers.get('location'), record.download_url)
  t.equal((await call(record.download_url.replace('.webp?', '.png?'))).status, 403)
})
