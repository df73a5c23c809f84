// Every spelling of a private address as the URL of a webhook: at creation through the REST API, at a test, and at the delivery of an
// event. By default, not even a connection may arrive; with its range allowed, it must. The test has its own network namespace with all
// these addresses, and one listener on all of them records what arrives where. Gateways run as processes, the operator's deliveries in this
// process.

import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { type AddressInfo, createServer, isIPv6 } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { screenshots, webhooks } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { LITERAL_ATTACKS, NAME_ATTACKS } from '../../support/attack/attack-list.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { startDeliveries } from '../../support/fakes/deliveries.ts'
import { choose } from '../../support/length.ts'
import { enterNamespace } from '../../support/processes/in-namespace.ts'
import { accessPlane } from '../../support/processes/plane-access.ts'
import { answerWith, startHttpsReceiver } from '../../support/servers/https-receiver.ts'

const MEANT = [...new Set(LITERAL_ATTACKS.map(({ means }) => means))]
/** Addresses without a listener. When allowed, they are dialed nevertheless. */
const NOBODYS = new Set(['0.0.0.1', '::7f00:1', '224.0.0.1', '255.255.255.255', 'ff02::1', 'fe80::1'])
/** Linux routes these to loopback. */
const LOOPBACK = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
])

enterNamespace(import.meta.filename, [])
const { default: t } = await import('tap')
const { call } = await import('../api-gateway/client.ts')
const { startWorld } = await import('../api-gateway/world.ts')

// Local routes, because the operator would reject its own interface addresses even when their range is allowed.
for (const address of MEANT) {
  const version = isIPv6(address) ? '-6' : '-4'
  spawnSync('ip', [version, 'route', 'replace', 'local', address, 'dev', 'lo'], { stdio: 'ignore' })
}

const listener = await startListener(t)
const world = await startWorld()
t.teardown(() => world.stop())
/** Several accounts, because the webhooks of an account are limited. */
const ACCOUNTS = ['acme', 'birch', 'cedar', 'dogwood']
const PER_ACCOUNT = 50
for (const name of ACCOUNTS) await world.createAccount(name)
const keys = await Promise.all(ACCOUNTS.map((accountName) => world.createKey({ accountName })))
const [key = ''] = keys

const OPEN = {
  allowedCidrs: [...new Set(LITERAL_ATTACKS.flatMap(({ opens }) => opens))],
  allowedHosts: [...new Set(NAME_ATTACKS.map(({ opens }) => opens))],
}
const CLOSED = { allowedCidrs: [], allowedHosts: [] }
const [closed, open] = await Promise.all([
  world.startGateway(),
  world.startGateway({
    TINTYPE_WEBHOOK_ALLOWED_CIDRS: OPEN.allowedCidrs.join(','),
    TINTYPE_WEBHOOK_ALLOWED_HOSTS: OPEN.allowedHosts.join(','),
  }),
])

/** Messages of the address rules, which failed connections do not have. */
const REFUSED = / is | ends in a dot/

/** Names that look public but resolve to private addresses: one for each address, by its index. */
const REBOUND = MEANT.map((_, index) => `n${index}.rebound.example.com`)
const resolve = async (name: string): Promise<string[]> => [MEANT[REBOUND.indexOf(name)] ?? '127.0.0.1']

interface Attack {
  host: string
  /** Address at which it arrives when allowed; undefined without a listener. */
  arrives: string | undefined
}
const arrivalAt = (means: string): string | undefined => (NOBODYS.has(means) ? undefined : (LOOPBACK.get(means) ?? means))
const WRITTEN: Attack[] = [
  ...LITERAL_ATTACKS.map(({ host, means }) => ({ host, arrives: arrivalAt(means) })),
  ...NAME_ATTACKS.map(({ host }) => ({ host, arrives: '127.0.0.1' })),
]
const RESOLVED: Attack[] = REBOUND.map((host, index) => ({ host, arrives: arrivalAt(MEANT[index]!) }))
const urlOf = (host: string): string => `https://${host}:${listener.port}/hook`

const http = new KubeHttp(await accessPlane(world.plane.kubeconfigPath))
t.teardown(() => http.close())
const hooks = new Resource(http, webhooks)

/** Starts deliveries like an operator with these rules. Resolves to a function that stops them. */
async function startOperator(t: Test, rules: typeof OPEN, certificates: string[] = []): Promise<() => Promise<void>> {
  const caches = { screenshots: new Reflector({ http, resource: screenshots }), webhooks: new Reflector({ http, resource: webhooks }) }
  for (const cache of Object.values(caches)) cache.start()
  await Promise.all(Object.values(caches).map((cache) => cache.whenSynced()))
  const work = startDeliveries({
    ...{ http, ...caches, openingKeys: world.openingKeys, ring: world.ring, certificates, resolve },
    settings: { timeoutMilliseconds: 1_000, retryDelaysMilliseconds: [100, 100], ...rules },
  })
  const end = async () => {
    await work.stop()
    await Promise.all(Object.values(caches).map((cache) => cache.stop()))
  }
  t.teardown(end)
  return end
}

const create = (gateway: { url: string }, url: string, owner = key) =>
  call(`${gateway.url}/v1/webhooks`, { method: 'POST', key: owner, body: { name: 'attack', url, events: ['screenshot.completed'] } })

/** Runs work for all `items`, a few at a time. */
async function forAll<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const iterator = items.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const item of iterator) await work(item)
    }),
  )
}

/** Completes a screenshot of each account. */
async function completeSome(): Promise<void> {
  for (const owner of keys) {
    const { body } = await call(`${closed.url}/v1/screenshots`, { method: 'POST', key: owner, body: { url: 'https://example.com/' } })
    const status = completedStatus({ completionTime: new Date(Date.now() + 2_000).toISOString() })
    await world.screenshots.patch(toObjectName(body.id), mergePatch({ status }), { subresource: 'status' })
  }
}

t.test('REST rejects a webhook with a private address in every spelling, unless its range is allowed', async (t) => {
  t.ok(WRITTEN.length >= 60, `${WRITTEN.length} spellings`)
  const accepted: unknown[] = []
  const note = (host: string, { status, body }: Awaited<ReturnType<typeof call>>) => {
    if (status !== 400 || body?.error?.code !== 'URL_NOT_ALLOWED') accepted.push({ host, status, body })
  }
  await forAll(WRITTEN, async ({ host }) => note(host, await create(closed, urlOf(host))))
  t.strictSame(accepted, [], 'each is rejected for a webhook')
  await forAll(WRITTEN, async ({ host }) => {
    const body = { url: 'https://example.com/', webhook_url: urlOf(host) }
    note(host, await call(`${closed.url}/v1/screenshots`, { method: 'POST', key, body }))
  })
  t.strictSame(accepted, [], 'each is rejected for a single request')
  t.strictSame([...(await hooks.listAll()), ...(await world.screenshots.listAll())], [], 'nothing was created')
  t.strictSame(listener.arrivals, [], 'nothing arrived')
})

t.test('REST rejects a URL that hides its target', async (t) => {
  const tricks = [
    'https://public.example.com@127.0.0.1/',
    'https://public.example.com:443@127.0.0.1/',
    'https://127.0.0.1@public.example.com/',
    'https://public.example.com%40127.0.0.1/',
    'https://public.example.com\\@127.0.0.1/',
    'https:\\\\127.0.0.1/',
    'https:/127.0.0.1/',
    'https:127.0.0.1',
    ' https://127.0.0.1/',
    'https://127.0.\t0.1/',
    'https://127.0.0.1\n/',
    'https:// 127.0.0.1/',
    'https://public.example.com/#@127.0.0.1/',
    'https://@127.0.0.1/',
    'https://:@127.0.0.1/',
    'https://[::1%25lo]/',
    'https://127.0.0.1:0x50/',
    'http://public.example.com/',
    'HTTPS://127.0.0.1/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_',
  ]
  const accepted: unknown[] = []
  for (const url of tricks) {
    for (const gateway of [closed, open]) {
      const { status } = await create(gateway, url)
      if (status !== 400) accepted.push({ url, status, opens: gateway === open })
    }
  }
  t.strictSame(accepted, [])
  t.match(await create(closed, 'https://public.example.com/?to=@127.0.0.1'), { status: 201 }, 'a query does not hide the target')
  for (const { metadata } of await hooks.listAll()) await hooks.delete(metadata.name)
})

t.test(
  'no webhook with a private address is reached by tests and deliveries, unless its range is allowed',
  { timeout: 300_000 },
  async (t) => {
    // One spelling of each address: the gateway stores URLs in one spelling.
    const isFirst = (index: number) => LITERAL_ATTACKS.findIndex(({ means }) => means === LITERAL_ATTACKS[index]?.means) === index
    const written = choose(WRITTEN, (_, index) => index >= LITERAL_ATTACKS.length || isFirst(index))
    const attacks = [...written, ...RESOLVED]
    const ids = new Map<string, string>()
    const ownerOf = (host: string): string => keys[Math.floor(attacks.findIndex((attack) => attack.host === host) / PER_ACCOUNT)] ?? ''
    await forAll(attacks, async ({ host }) => {
      const { status, body } = await create(open, urlOf(host), ownerOf(host))
      if (status !== 201) throw new Error(`${host} is not accepted when its range is allowed: ${status} ${JSON.stringify(body)}`)
      ids.set(host, body.data.id)
    })
    const isEvaluated = (isReady: 'True' | 'False') => async () => {
      const all = await hooks.listAll()
      const verdicts = all.map(({ status }) => status?.conditions?.find(({ type }) => type === 'Ready')?.status)
      return verdicts.filter((verdict) => verdict === isReady).length >= written.length
    }

    const endOpen = await startOperator(t, OPEN)
    await eventually('all webhooks are active', isEvaluated('True'))
    // One after the other, to know which of them arrived.
    const unopened: unknown[] = []
    for (const { host, arrives } of attacks) {
      listener.arrivals.length = 0
      const { body } = await call(`${open.url}/v1/webhooks/${ids.get(host)}/test`, { method: 'POST', key: ownerOf(host) })
      const isOpen = arrives === undefined ? !REFUSED.test(body.error) : listener.arrivals.includes(arrives)
      if (!isOpen) unopened.push({ host, arrives, body, arrivals: [...listener.arrivals] })
    }
    t.strictSame(unopened, [], 'when allowed, each test arrives, or is dialed where nothing responds')
    listener.arrivals.length = 0
    await completeSome()
    for (const address of new Set(attacks.flatMap(({ arrives }) => arrives ?? []))) {
      await eventually(`an event arrives at ${address}`, async () => listener.arrivals.includes(address))
    }
    await endOpen()

    // They were active until now; an operator with stricter rules rejects them.
    listener.arrivals.length = 0
    const endClosed = await startOperator(t, CLOSED)
    await completeSome()
    await eventually('literal addresses are rejected', isEvaluated('False'))
    const reached: unknown[] = []
    await forAll(attacks, async ({ host }) => {
      const { body } = await call(`${closed.url}/v1/webhooks/${ids.get(host)}/test`, { method: 'POST', key: ownerOf(host) })
      if (body.success || body.status_code !== 0 || !REFUSED.test(body.error)) reached.push({ host, body })
    })
    t.strictSame(reached, [], 'by default, each test is rejected')
    await completeSome()
    const hookNames = RESOLVED.map(({ host }) => toObjectName(ids.get(host) ?? ''))
    await eventually('deliveries to names have failed permanently', async () => {
      const states = (await world.screenshots.listAll()).map(({ status }) => status?.deliveries?.['screenshot.completed'] ?? {})
      // Names stayed active: the first event of each was delivered, and with these rules each later one failed.
      return hookNames.every((name) => states.filter((states) => states[name]?.state === 'failed').length >= 2)
    })
    t.strictSame(listener.arrivals, [], 'not even a connection arrived')
    await endClosed()
  },
)

t.test('no redirect leads to a private address, even when its range is allowed', async (t) => {
  for (const { metadata } of await hooks.listAll()) await hooks.delete(metadata.name)
  for (const { metadata } of await world.screenshots.listAll()) await world.screenshots.delete(metadata.name)
  const directory = await mkdtemp(join(tmpdir(), 'tintype-redirect-'))
  const redirector = await startHttpsReceiver({ directory, names: ['DNS:redirector.example.com'] })
  t.teardown(async () => {
    await redirector.close()
    await rm(directory, { recursive: true, force: true })
  })
  const end = await startOperator(t, { ...OPEN, allowedHosts: ['redirector.example.com'] }, [redirector.ca])
  const made = await create(open, `https://redirector.example.com:${redirector.port}/`)
  t.equal(made.status, 201)
  listener.arrivals.length = 0
  for (const location of ['127.0.0.1', '169.254.169.254', '10.0.0.1', '[fd00:ec2::254]'].map(urlOf)) {
    for (const status of [301, 302, 303, 307, 308]) {
      redirector.answer = answerWith(status, '', { location })
      const { body } = await call(`${open.url}/v1/webhooks/${made.body.data.id}/test`, { method: 'POST', key })
      t.match(body, { success: false, status_code: status }, `${status} to ${location}`)
    }
  }
  t.equal(redirector.received.length, 20)
  t.strictSame(listener.arrivals, [], 'not even a connection arrived')
  await end()
})

/** Listens on all addresses and records at which of them a connection arrived. It closes connections without a response. */
async function startListener(t: Test): Promise<{ port: number; arrivals: string[] }> {
  const arrivals: string[] = []
  const server = createServer((socket) => {
    arrivals.push((socket.localAddress ?? '').replace(/^::ffff:(?=.*\.)/, ''))
    socket.destroy()
  })
  server.listen(0, '::')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  return { port: (server.address() as AddressInfo).port, arrivals }
}
