import { enterNamespace } from '../../support/processes/in-namespace.ts'

const DOMAIN = 'store.test'
enterNamespace(import.meta.filename, [], [DOMAIN, `tintype.${DOMAIN}`])

const { randomBytes } = await import('node:crypto')
const { default: t } = await import('tap')
const { call } = await import('../api-gateway/client.ts')
const { complete } = await import('../api-gateway/runner-role.ts')
const { startWorld } = await import('../api-gateway/world.ts')

// A gateway process with a store that takes the bucket from the host name, also at its public URL.

const world = await startWorld({ store: { MINIO_DOMAIN: DOMAIN } })
t.teardown(() => world.stop())

t.test('a gateway serves files from the store and links to them, and its console may show them', async (t) => {
  await world.createAccount('acme')
  const key = await world.createKey({ accountName: 'acme' })
  const endpoint = `http://${DOMAIN}:${world.store.port}`
  const settings = { TINTYPE_STORAGE_ENDPOINT: endpoint, TINTYPE_STORAGE_PATH_STYLE: 'false' }
  const directory = t.testdir({ 'index.html': '<title>Tintype</title>', assets: {} })
  const [gateway, open] = await Promise.all([
    world.startGateway(settings),
    world.startGateway({ ...settings, TINTYPE_STORAGE_PUBLIC_URL: endpoint, TINTYPE_CONSOLE_DIRECTORY: directory }),
  ])
  const bytes = randomBytes(100_000)
  const { body } = await call(`${gateway.url}/v1/screenshots`, { method: 'POST', key, body: { url: 'https://example.com/' } })
  await complete(body.id, bytes, world)
  const linkOf = async ({ url }: { url: string }): Promise<string> =>
    (await call(`${url}/v1/screenshots/${body.id}?wait=10`, { key })).body.download_url
  const own = await call(await linkOf(gateway))
  t.match({ status: own.status, type: own.headers.get('content-type') }, { status: 200, type: 'image/png' })
  t.same(own.body, bytes)
  const link = await linkOf(open)
  const origin = `http://tintype.${DOMAIN}:${world.store.port}`
  t.ok(link.startsWith(`${origin}/users/acme/${body.id}.png?`), link)
  const direct = await call(link)
  t.equal(direct.status, 200)
  t.same(direct.body, bytes)
  const page = await fetch(open.url, { headers: { accept: 'text/html' } })
  t.match(page.headers.get('content-security-policy'), `img-src 'self' ${origin} `)
})
