import { Writable } from 'node:stream'
import Fastify from 'fastify'
import t from 'tap'
import { buildMetrics } from '../../../api-gateway/src/metrics/metrics.ts'
import { aGateway, NOW } from './fakes.ts'

/** Must not appear anywhere in any encoding: plain, base64 or percent-encoded. */
const SECRET = 'Zq7planted7Secret'
/** Appears wherever options are shown: the control of the search. */
const VISIBLE = '#Zq7visible'
const spellings = [
  SECRET,
  Buffer.from(SECRET).toString('base64').slice(1, -3),
  encodeURIComponent(SECRET),
  Buffer.from(`u:${SECRET}`).toString('base64'),
]
const url = 'https://example.com/'
const withUser = `https://u:${SECRET}@example.com/?q`
const secrets = {
  authorization: `Bearer ${SECRET}`,
  headers: { 'X-Api-Key': SECRET },
  local_storage: { token: SECRET },
  proxy: `http://u:${SECRET}@proxy.example.com`,
  cookies: [{ name: 'sid', value: SECRET, http_only: true }, `text=${SECRET}; Path=/x; Secure`],
}
const large = `/* ${SECRET} */${' '.repeat(9000)}`

t.test('the gateway writes no secret into objects, bucket, records, responses, log or metrics', async (t) => {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const metrics = buildMetrics()
  const gateway = aGateway({ log: Fastify({ logger: { level: 'trace', stream } }).log, metrics })
  const { app, headers, screenshots, objects } = gateway
  const responses: string[] = []
  const post = async (path: string, payload: object, more: Record<string, string> = {}) => {
    const response = await app.inject({ method: 'POST', url: `/v1${path}`, headers: { ...headers, ...more }, payload })
    responses.push(response.body)
    return response.statusCode
  }
  t.equal(await post('/screenshots', { url, options: { click: VISIBLE, ...secrets } }), 202)
  t.equal(await post('/screenshots', { url: withUser }), 202)
  for (const status of [202, 202])
    t.equal(await post('/screenshots', { url, options: { ...secrets, scripts: large } }, { 'idempotency-key': 'a' }), status)
  t.equal(await post('/screenshots/batch', { urls: [url, withUser], options: { styles: large, headers: { a: SECRET } } }), 202)
  for (const options of [
    { authorization: `${SECRET}\n` },
    { headers: { Host: SECRET } },
    { cookies: [SECRET] },
    { basic_auth_password: SECRET },
    { cookie: SECRET },
  ])
    t.equal(await post('/screenshots', { url, options }), 400)
  t.equal(await post('/screenshots', { url: `https://u:${SECRET}@127.0.0.1/` }), 400)
  const [first, second] = [...screenshots.objects.values()]
  screenshots.put({ ...first!, status: { phase: 'Completed', completionTime: NOW.toISOString() } as never })
  screenshots.put({ ...second!, status: { phase: 'Failed', result: { error: { code: 'TIMEOUT', message: 'too slow' } } } as never })
  const list = await app.inject({ url: '/v1/screenshots?limit=100', headers })
  t.equal(list.json().data.length, 5)
  t.ok(
    [...objects.objects.keys()].some((place) => place.startsWith('options/')) &&
      [...objects.objects.keys()].some((place) => place.startsWith('idempotency/')),
  )
  const places = {
    objects: JSON.stringify([...screenshots.objects.values(), ...gateway.apiKeys.objects]),
    bucket: JSON.stringify([...objects.objects]),
    list: list.body,
    responses: responses.join('\n'),
    log: lines.join('\n'),
    metrics: await metrics.registry.metrics(),
  }
  for (const place of ['objects', 'list', 'responses'] as const) t.ok(places[place].includes(VISIBLE), `control: ${place} shows options`)
  t.match(places.log, 'request completed')
  for (const [place, content] of Object.entries(places))
    for (const spelling of [...spellings, gateway.key]) t.notOk(content.includes(spelling), `${place} holds no ${spelling}`)
})
