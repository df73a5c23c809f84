import t from 'tap'
import type { PrivateOptions } from '../../../crds/src/options/private.ts'
import { eventually } from '../../support/eventually.ts'
import { servePages } from './stage/page-server.ts'
import { openService } from './stage/service.ts'

// Secrets in an encrypted order, with a real runner process at its most verbose log level. They must reach the page, but no output of the runner.

const SECRET = 'Zq7planted7Secret'
const received: string[] = []
const site = await servePages({
  '/': ({ headers }, response) => {
    received.push(`${headers.authorization} ${headers.cookie} ${headers['x-key']}`)
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>In</title><p style="background:#0f0">x')
  },
  '/basic': ({ headers }, response) => {
    received.push(`${headers.authorization}`)
    response
      .writeHead(headers.authorization ? 200 : 401, { 'www-authenticate': 'Basic realm="x"', 'content-type': 'text/html' })
      .end('<p>x')
  },
  '/hang-up': (request) => void request.socket.destroy(),
})
t.teardown(() => site.close())
const service = await openService(t)
const runner = await service.startRunner({ TINTYPE_LOG_LEVEL: 'trace', DEBUG: 'pw:error' })

async function capture(url: string, privateOptions: PrivateOptions) {
  const order = { ...(await service.claim(url)), privateOptions }
  await runner.client.post(service.address, runner.key, order)
  return service.finished(order)
}

const all: PrivateOptions = {
  authorization: `Bearer ${SECRET}`,
  headers: { 'X-Key': SECRET },
  cookies: [
    { name: 'sid', value: SECRET },
    { name: '__Http-bad', value: SECRET },
  ],
}
const basic: PrivateOptions = { basicAuthUsername: 'u', basicAuthPassword: SECRET }

t.test('a runner uses private options without revealing them', async (t) => {
  const captured = await capture(site.url('/'), all)
  t.match(captured.status, { phase: 'Completed', result: { pageTitle: 'In', warnings: [/did not keep .* cookies\[1\] \(__Http-bad\)$/] } })
  t.strictSame(received, [`Bearer ${SECRET} sid=${SECRET} ${SECRET}`], 'control: the page received all of it')
  const signed = await capture(site.url('/basic'), basic)
  t.match(signed.status, { phase: 'Completed', result: { httpStatus: 200 } })
  const failed = await capture(site.url('/hang-up'), { ...all, ...basic })
  t.match(failed.status, { phase: 'Failed' })
  const { outcome } = await runner.client.post(service.address, runner.key, {
    ...(await service.claim(site.url('/'))),
    privateOptions: { ...all, [SECRET]: 1 },
  } as never)
  t.equal(outcome, 'refused', 'an order with an unknown field')
  await eventually('three captures are logged', async () => runner.log().split('capture finished').length === 4)
  const places = { objects: JSON.stringify(await service.screenshots.listAll()), log: runner.log() }
  for (const [place, text] of Object.entries(places))
    for (const spelling of [SECRET, Buffer.from(`u:${SECRET}`).toString('base64')])
      t.notOk(text.includes(spelling), `${place} holds no ${spelling}`)
})
