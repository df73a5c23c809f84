import t from 'tap'
import { aGateway } from '../fakes.ts'

const { app } = aGateway()

t.test('the reference page is public and loads nothing from elsewhere', async (t) => {
  const page = await app.inject({ url: '/docs' })
  t.equal(page.statusCode, 200)
  t.match(page.headers['content-type'], /^text\/html/)
  t.match(page.headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self'; /)
  t.notMatch(page.headers['content-security-policy'], /unsafe/)
  t.notMatch(page.body, /https?:/)
})

t.test('the reference page has its files beside it, compressed for who takes that', async (t) => {
  const page = await app.inject({ url: '/docs' })
  const files = [...page.body.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => `/${file}`)
  t.equal(files.length, 4)
  for (const url of files) {
    const plain = await app.inject({ url })
    t.equal(plain.statusCode, 200, url)
    t.ok(plain.rawPayload.length > 50, url)
    const head = await app.inject({ url, method: 'HEAD' })
    t.equal(head.statusCode, 200, url)
    t.equal(head.body, '')
  }
  const packed = await app.inject({ url: '/docs/swagger-ui.css', headers: { 'accept-encoding': 'gzip, br' } })
  t.equal(packed.headers['content-encoding'], 'gzip')
  t.ok(packed.rawPayload.length < 60_000)
})

t.test('requests for the reference page occupy all threads: its files are compressed once', async (t) => {
  const { app } = aGateway()
  const sent: unknown[] = []
  app.addHook('onSend', async (_request, _reply, payload) => void sent.push(payload))
  for (let n = 0; n < 2; n++) await app.inject({ url: '/docs/swagger-ui.css', headers: { 'accept-encoding': 'gzip' } })
  t.ok(Buffer.isBuffer(sent[0]))
  t.equal(sent[0], sent[1])
})

t.test('the reference page is sent once to who keeps it', async (t) => {
  const first = await app.inject({ url: '/docs/swagger-ui-bundle.js' })
  const again = await app.inject({ url: '/docs/swagger-ui-bundle.js', headers: { 'if-none-match': first.headers.etag as string } })
  t.equal(again.statusCode, 304)
})

t.test('the reference page leads from an address under which its files would not be found', async (t) => {
  const response = await app.inject({ url: '/docs/' })
  t.strictSame([response.statusCode, response.headers.location], [308, '../docs'])
})
