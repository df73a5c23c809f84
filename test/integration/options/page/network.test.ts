import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import t, { type Test } from 'tap'
import { certificatePaths } from '../../../cluster/kubernetes/pki.ts'
import { startDnsServer } from '../../../support/servers/dns-server.ts'
import { createReceiverCertificate } from '../../../support/servers/https-receiver.ts'
import type { Pages } from '../../capture-runner/stage/page-server.ts'
import { GREEN, isNear } from '../../capture-runner/stage/pixels.ts'
import { LOOPBACK_POLICY, policyWith } from '../../capture-runner/stage/studio.ts'
import { openStage, page } from '../options.ts'
import { startHttpProxy, startSocksProxy } from './proxies.ts'

const directory = t.testdir({})
const certificate = await createReceiverCertificate(directory)
tls.setDefaultCACertificates([...tls.getCACertificates('default'), await readFile(certificatePaths(directory, 'ca').certificate, 'utf8')])
const secure = createTlsServer({ key: await readFile(certificate.key), cert: await readFile(certificate.certificate) }, (_, response) =>
  response.end(page('background:#0f0', '<p>text')),
)
secure.listen(0, '127.0.0.1')
await once(secure, 'listening')
const securePort = (secure.address() as AddressInfo).port

/** A target that no page may reach. */
let privateHits = 0
const inner = createServer((_, response) => {
  privateHits++
  response.end()
})
inner.listen(0, '127.0.0.2')
await once(inner, 'listening')
const innerUrl = `http://127.0.0.2:${(inner.address() as AddressInfo).port}/`

/** A name that resolves to a private address. */
const names = await startDnsServer((name) => (name === 'inner.example' ? { addresses: ['127.0.0.2'] } : undefined))
const pages: Pages = {
  '/': page('background:#0f0', '<p>text'),
  '/heavy': page('background:#0f0', '<p>text<img src="/noise">'),
  '/noise': (_, response) => void response.end(Buffer.alloc(400_000, 1)),
  '/asks': page('background:#0f0', `<p>text<img src="${innerUrl}">`),
}
const stage = await openStage(t, pages, { guard: { dnsServers: [names.address] } })
t.teardown(() => {
  names.close()
  for (const server of [secure, inner]) {
    server.closeAllConnections()
    server.close()
  }
})
const sitePort = new URL(stage.site.url('/')).port
/** Hosts that only a proxy of these tests can resolve. */
const hidden = `http://hidden.example:${sitePort}/`
const hiddenSecure = `https://hidden.example:${securePort}/`
const window = { viewportWidth: 300, viewportHeight: 200, ignoreHttpsErrors: true }
const sign = { privateOptions: { proxyUsername: 'us er', proxyPassword: 'p@ss:ü' } }
const CREDENTIALS = 'us er:p@ss:ü'

for (const [scheme, start] of [
  ['http', (t: Test) => startHttpProxy(t)],
  ['https', (t: Test) => startHttpProxy(t, CREDENTIALS, certificate)],
  ['socks5', (t: Test) => startSocksProxy(t)],
] as const) {
  // proves: proxy
  t.test(`an ${scheme} proxy carries pages over http and https, and resolves their names`, async (t) => {
    const proxy = await start(t)
    for (const url of [hidden, hiddenSecure]) {
      const { pixels } = await stage.shootAt(url, { ...window, proxy: `${scheme}://${proxy.host}` }, scheme === 'https' ? sign : {})
      t.ok(isNear(pixels.at(200, 150), GREEN), url)
      t.ok(proxy.targets.includes(new URL(url).host), proxy.targets.join())
    }
  })
}

t.test('without its proxy, the host of a page is unknown', async (t) => {
  await t.rejects(stage.shootAt(hidden, window), { code: 'DNS_FAILED' })
})

t.test('option proxy_username, proxy_password: are sent to the proxy', async (t) => {
  for (const [scheme, proxy] of [
    ['http', await startHttpProxy(t, CREDENTIALS)],
    ['socks5', await startSocksProxy(t, CREDENTIALS)],
  ] as const) {
    const options = { ...window, proxy: `${scheme}://${proxy.host}` }
    t.ok(isNear((await stage.shootAt(hidden, options, sign)).pixels.at(200, 150), GREEN), scheme)
    t.ok(isNear((await stage.shootAt(hiddenSecure, options, sign)).pixels.at(200, 150), GREEN), scheme)
    const wrong = { privateOptions: { proxyUsername: 'us er', proxyPassword: 'wrong' } }
    for (const url of [hidden, hiddenSecure]) {
      for (const how of [wrong, {}]) await t.rejects(stage.shootAt(url, options, how), { code: 'PROXY_FAILED' }, `${scheme} ${url}`)
    }
  }
})

t.test('option proxy_bypass: reaches hosts without the proxy', async (t) => {
  const proxy = await startHttpProxy(t)
  const options = { ...window, proxy: `http://${proxy.host}`, proxyBypass: ['127.0.0.1'] }
  t.ok(isNear((await stage.shoot('/', options)).pixels.at(200, 150), GREEN))
  t.notOk(
    proxy.targets.some((target) => target.startsWith('127.0.0.1')),
    proxy.targets.join(),
  )
  await stage.shootAt(hidden, options)
  t.ok(proxy.targets.includes(`hidden.example:${sitePort}`))
})

t.test('option proxy_bypass: reaches no private address, and neither does the proxy for a page', async (t) => {
  const proxy = await startHttpProxy(t)
  const policy = policyWith({ allowedCidrs: ['127.0.0.1/32'] })
  const url = `http://hidden.example:${sitePort}/asks`
  for (const proxyBypass of [[], ['127.0.0.2'], ['*.2', '127.0.0.2', 'localhost']]) {
    const options = { ...window, proxy: `http://${proxy.host}`, proxyBypass }
    await stage.shootAt(url, options, { policy })
    await t.rejects(stage.shootAt(innerUrl, options, { policy }), { code: 'BLOCKED_ADDRESS' })
  }
  t.equal(privateHits, 0)
  await stage.shootAt(url, { ...window, proxy: `http://${proxy.host}`, proxyBypass: ['127.0.0.2'] })
  t.ok(privateHits > 0, 'the control: what the rules open is reached')
})

t.test('option proxy_bypass: reaches no private address in any spelling of the address or its name', async (t) => {
  const proxy = await startHttpProxy(t)
  const policy = policyWith({ allowedCidrs: ['127.0.0.1/32'] })
  const { port } = new URL(innerUrl)
  const before = privateHits
  for (const [host, proxyBypass] of [
    ['inner.example', ['inner.example']],
    ['inner.example', ['*.example']],
    ['inner.example', ['*']],
    ['127.0.0.2', ['*']],
    ['127.0.0.2', ['<-loopback>', '<local>']],
    ['127.0.0.2', ['127.0.0.0/8']],
    ['2130706434', ['127.0.0.2', '2130706434']],
    ['[::ffff:127.0.0.2]', ['[::ffff:127.0.0.2]', '::ffff:127.0.0.2']],
    ['0x7f.2', ['0x7f.2', '127.0.0.2']],
  ] as const) {
    const options = { ...window, proxy: `http://${proxy.host}`, proxyBypass: [...proxyBypass], retries: 0 }
    const outcome = await stage.shootAt(`http://${host}:${port}/`, options, { policy }).then(
      () => 'shown',
      ({ code }) => code,
    )
    // The proxy resolves such a name, and this one is unknown to it, too.
    t.match(outcome, /^(BLOCKED_ADDRESS|INVALID_OPTIONS|PROXY_FAILED|DNS_FAILED)$/, `${host} with ${proxyBypass.join()}`)
  }
  t.equal(privateHits, before)
})

t.test('a proxy with a private address is refused like a page', async (t) => {
  const proxy = await startHttpProxy(t)
  const policy = policyWith({ allowedCidrs: [] })
  for (const scheme of ['http', 'socks5']) {
    const options = { ...window, proxy: `${scheme}://${proxy.host}` }
    await t.rejects(stage.shootAt(hidden, options, { policy }), { code: 'BLOCKED_ADDRESS' }, scheme)
  }
  t.strictSame(proxy.targets, [])
})

t.test('option ignore_https_errors: opens a page with an untrusted certificate', async (t) => {
  const url = `https://127.0.0.1:${securePort}/`
  t.ok(isNear((await stage.shootAt(url, { viewportWidth: 300, viewportHeight: 200, ignoreHttpsErrors: true })).pixels.at(200, 150), GREEN))
  await t.rejects(stage.shootAt(url), { code: 'TLS_ERROR' })
})

t.test('a capture fails when it has used up its bytes', async (t) => {
  const policy = { ...LOOPBACK_POLICY, maxBytes: 100_000 }
  t.equal((await stage.fail('/heavy', {}, { policy })).code, 'RESOURCE_LIMIT')
  t.ok(isNear((await stage.shoot('/heavy', window)).pixels.at(200, 150), GREEN), 'the control')
})
