import { randomBytes } from 'node:crypto'
import t from 'tap'
import { fingerprintOf } from '../sites/src/answering.ts'
import { call, capture, finished, type RecordBody } from '../support/cluster/api-client.ts'
import { kubectl, kubectlJson } from '../support/cluster/environment.ts'
import { programMetrics } from '../support/cluster/metrics.ts'
import { createKind, run } from '../support/cluster/pools.ts'
import { startClusterReceiver } from '../support/cluster/receiver.ts'
import { eventually } from '../support/eventually.ts'
import { page } from '../support/servers/pages.ts'

// Secrets of clients on the deployed release: they must reach the page, and must not appear in objects, Kubernetes Events, logs, metrics,
// records or webhooks.

t.setTimeout(300_000)
const SECRET = `Zq7${randomBytes(8).toString('hex')}`
const since = new Date()
const receiver = await startClusterReceiver(t)
const hook = `secrets-${run}`
const events = ['screenshot.queued', 'screenshot.completed', 'screenshot.failed']
await createKind(t, 'Webhook', hook, { url: `${receiver.url}/in`, events })
await kubectl(['wait', '--for=condition=Ready', `webhook/${hook}`, '--timeout=120s'])

const options = {
  authorization: `Bearer ${SECRET}`,
  headers: { 'X-Api-Key': SECRET },
  cookies: [`sid=${SECRET}; HttpOnly`],
}
const signedIn = [`Bearer ${SECRET}`, `sid=${SECRET}`, SECRET].map(fingerprintOf).join(' ')
const titleOf = ({ metadata }: RecordBody) => (metadata as { page_title: string } | null)?.page_title
const captured: RecordBody[] = []
const keep = (record: RecordBody): RecordBody => {
  captured.push(record)
  return record
}

t.test('headers, cookies and authorization reach the page, and the record shows none of them', async (t) => {
  const record = keep(await capture(page('/fingerprints'), options))
  t.equal(titleOf(record), signedIn)
  t.match(record.options, { authorization: '***', headers: '***', cookies: '***' })
})

t.test('credentials in the url answer a 401 challenge, and the record’s url omits them', async (t) => {
  const record = keep(await capture(page('/fingerprints?basic').replace('://', `://u:${SECRET}@`)))
  const basic = `Basic ${Buffer.from(`u:${SECRET}`).toString('base64')}`
  t.equal(titleOf(record), `${fingerprintOf(basic)} - -`)
  t.match(record, { url: page('/fingerprints?basic'), options: { basic_auth_password: '***' } })
})

t.test('a batch shares large and private options', async (t) => {
  const scripts = `document.title += ' large' // ${'x'.repeat(20_000)}`
  const body = { urls: [page('/fingerprints'), page('/fingerprints')], options: { ...options, scripts } }
  const created = await call<{ screenshots: { id: string }[] }>('/api/v1/screenshots/batch', { method: 'POST', body })
  t.equal(created.status, 202)
  for (const { id } of created.body.screenshots) t.equal(titleOf(keep(await finished(id))), `${signedIn} large`)
})

t.test('a failed capture does not reveal credentials', async (t) => {
  t.equal(keep(await capture(page('/hang-up'), options)).status, 'failed')
})

/** The logs of all containers of the release since the test began, including restarted ones. */
async function logs(): Promise<string> {
  const { items } = await kubectlJson<{ items: { metadata: { name: string } }[] }>(['get', 'pods'])
  const texts = items.map(({ metadata: { name } }) => kubectl(['logs', name, '--all-containers', `--since-time=${since.toISOString()}`]))
  return (await Promise.all(texts)).map(({ stdout }) => stdout).join('\n')
}

const metrics = async (): Promise<string> => `${await programMetrics('api-gateway')}\n${await programMetrics('operator')}`

// This test comes last, because by then all secrets have been used.
t.test('no object or log of the release shows a secret', async (t) => {
  const ids = captured.map(({ id }) => id)
  const posts = await eventually(
    'all webhook events have arrived',
    async () => {
      const bodies = (await receiver.received()).map(({ body }) => Buffer.from(body, 'base64').toString())
      const isTold = (id: string) => bodies.some((body) => body.includes(id) && /"type":"screenshot\.(completed|failed)"/.test(body))
      return ids.every(isTold) && bodies.join('\n')
    },
    60_000,
  )
  const kinds = 'screenshots,webhooks,accounts,accountusages,apikeys,runnerpools,events,pods,configmaps'
  const places = {
    objects: (await kubectl(['get', kinds, '-o', 'json'])).stdout,
    described: (await kubectl(['describe', 'screenshots', ...ids.map((id) => id.replace('_', '-'))])).stdout,
    logs: await logs(),
    metrics: await metrics(),
    records: JSON.stringify((await call('/api/v1/screenshots?limit=100')).body),
    webhooks: posts,
  }
  const controls = {
    objects: ids[0]?.replace('_', '-'),
    records: ids[0],
    webhooks: ids[0],
    described: page('/fingerprints'),
    logs: 'screenshot finished',
    metrics: 'screenshot_',
  }
  for (const [place, text] of Object.entries(places)) {
    t.ok(text.includes(controls[place as keyof typeof controls] ?? ''), `control: ${place} can be read`)
    for (const spelling of [SECRET, Buffer.from(`u:${SECRET}`).toString('base64').replaceAll('=', '')])
      t.notOk(text.includes(spelling), `${place} holds no secret`)
  }
})
