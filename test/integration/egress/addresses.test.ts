// Targets that must not be reached: every spelling of a private address, and names that resolve to one directly, by a CNAME, by one of several
// addresses, by the other family, or only at the second query. Denied, no connection may arrive; allowed, it must. One listener on all addresses of the
// test's own network namespace records what arrives. The zone belongs to the test.

import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { classifyFailure } from '../../../capture-runner/src/egress/classify-failure.ts'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import { createResolver } from '../../../capture-runner/src/egress/resolve.ts'
import { DEFAULT_EGRESS_RULES, type EgressRules } from '../../../crds/src/addresses/address-rules.ts'
import { resolverOf } from '../../../operator/src/controllers/delivery/http/network.ts'
import { assertSome } from '../../support/accepts.ts'
import { LITERAL_ATTACKS } from '../../support/attack/attack-list.ts'
import { enterNamespace } from '../../support/processes/in-namespace.ts'
import { type DnsResponse, inTurns, type QueryType, startDnsServer } from '../../support/servers/dns-server.ts'
import { askThrough, tunnelThrough } from '../../support/servers/proxy-client.ts'

const PUBLIC = '93.184.215.14'
const PUBLIC_SIX = '2606:2800:21f::1'
const PRIVATE = ['10.1.2.3', '169.254.169.254', '100.100.100.200', 'fd00::1', '127.0.0.1', '::1', '10.9.9.9']
const POD = '10.9.9.9'

/** Addresses that need not or cannot be assigned to an interface. */
const NOT_PUT = new Set([
  ...['0.0.0.0', '0.0.0.1', '127.0.0.1', '127.255.255.254', '224.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::7f00:1', 'fe80::1', 'ff02::1'],
])
/** Addresses of the list that loopback already has. */
const ON_LOOPBACK = new Set(['127.0.0.1', '127.255.255.254', '::1'])
/** Linux connects these to loopback. When they are allowed, the guard connects, and its check of the socket's peer address rejects them. */
const ENDS_ELSEWHERE = new Set(['0.0.0.0', '::'])

const LITERALS = LITERAL_ATTACKS.map(({ means }) => means).filter((address) => !NOT_PUT.has(address))
const NAMED = [PUBLIC, PUBLIC_SIX, '10.1.2.3', '169.254.169.254', '100.100.100.200', 'fd00::1', POD]
enterNamespace(import.meta.filename, [...new Set([...LITERALS, ...NAMED])])
const { default: t } = await import('tap')

/** A name server of an attacker can return thousands of addresses for a name. Each would be checked, dialed and listed in an error message. */
const MANY = {
  four: Array.from({ length: 40 }, (_, n) => `93.184.215.${n}`),
  six: Array.from({ length: 40 }, (_, n) => `2606:2800:21f::${(n + 1).toString(16)}`),
}

const rebinding = inTurns(PUBLIC, '10.1.2.3')
const zone: Record<string, (type: QueryType | undefined) => DnsResponse> = {
  'public.example': () => ({ addresses: [PUBLIC, PUBLIC_SIX] }),
  'six.example': () => ({ addresses: [PUBLIC_SIX] }),
  'dead-first.example': () => ({ addresses: ['93.184.215.99', PUBLIC] }),
  'private.example': () => ({ addresses: ['10.1.2.3'] }),
  'metadata.example': () => ({ addresses: ['169.254.169.254'] }),
  'alibaba.example': () => ({ addresses: ['100.100.100.200'] }),
  'local-six.example': () => ({ addresses: ['fd00::1'] }),
  'loopback.example': () => ({ addresses: ['127.0.0.1'] }),
  'loopback-six.example': () => ({ addresses: ['::1'] }),
  'mapped.example': () => ({ addresses: ['::ffff:10.1.2.3'] }),
  'alias.example': () => ({ cname: 'private.example', addresses: ['10.1.2.3'] }),
  'private-second.example': () => ({ addresses: [PUBLIC, '10.1.2.3'] }),
  'private-first.example': () => ({ addresses: ['10.1.2.3', PUBLIC] }),
  'private-six.example': () => ({ addresses: [PUBLIC, 'fd00::1'] }),
  'private-four.example': () => ({ addresses: ['10.1.2.3', PUBLIC_SIX] }),
  'pod.example': () => ({ addresses: [POD] }),
  'web.sites.svc.cluster.local': () => ({ addresses: ['10.1.2.3'] }),
  'evil.sites.svc.cluster.local': () => ({ addresses: ['127.0.0.1'] }),
  'pod.sites.svc.cluster.local': () => ({ addresses: [POD] }),
  'broken.example': () => 'failure',
  'silent.example': () => 'silence',
  'empty.example': () => ({ addresses: [] }),
  'many.example': () => ({ addresses: [...MANY.four, ...MANY.six] }),
  'rebinding.example': (type) => ({ addresses: [rebinding(type)] }),
}
const dns = await startDnsServer((name, type) => zone[name]?.(type))

const arrived: string[] = []
const listener = http.createServer((_request, response) => response.end('reached'))
listener.on('connection', (socket) => arrived.push((socket.localAddress ?? '').replace(/^::ffff:(?=.*\.)/, '')))
listener.listen(80, '::')
await once(listener, 'listening')
t.teardown(() => {
  dns.close()
  listener.closeAllConnections()
  listener.close()
})

const guard = createGuard({
  dnsServers: [dns.address],
  dnsTimeoutMilliseconds: 600,
  connectTimeoutMilliseconds: 2_000,
  ownAddresses: [POD],
})

/** One plain request and one tunnel. */
const visit = async (name: string, rules: Partial<EgressRules> = {}) => {
  arrived.length = 0
  const session = await guard.openSession()
  session.arm({ rules: { ...DEFAULT_EGRESS_RULES, ...rules }, maxBytes: 1e6 })
  const plain = await askThrough(session.proxyUrl, `http://${name}/`)
  const tunnel = await tunnelThrough(session.proxyUrl, `${name}:80`)
  session.close()
  return { plain, tunnel, arrived: [...arrived], requestLog: session.requestLog }
}

for (const name of ['public.example', 'six.example', 'dead-first.example', 'PUBLIC.example']) {
  t.test(`Guard reaches ${name} by the default rules`, async (t) => {
    const { plain, tunnel, arrived, requestLog } = await visit(name)
    t.match(plain, { status: 200, body: 'reached' })
    t.ok(tunnel)
    t.equal(arrived.length, 2)
    t.ok(arrived.every((address) => address === PUBLIC || address === PUBLIC_SIX))
    t.match(requestLog.entries, [{ decision: 'allowed' }, { decision: 'allowed' }])
    t.ok(requestLog.bytesReceived > 0)
  })
}

const attacks: { name: string; opens: string[] }[] = [
  { name: 'private.example', opens: ['10.0.0.0/8'] },
  { name: 'metadata.example', opens: ['169.254.169.254/32'] },
  { name: 'alibaba.example', opens: ['100.100.100.200/32'] },
  { name: 'local-six.example', opens: ['fd00::/8'] },
  { name: 'loopback.example', opens: ['127.0.0.0/8'] },
  { name: 'loopback-six.example', opens: ['::1/128'] },
  { name: 'mapped.example', opens: ['10.0.0.0/8'] },
  { name: 'alias.example', opens: ['10.0.0.0/8'] },
  { name: 'private-first.example', opens: ['10.0.0.0/8'] },
  { name: 'private-four.example', opens: ['10.0.0.0/8'] },
]
for (const { name, opens } of attacks) {
  t.test(`Guard rejects the target of ${name}, and connects after it is allowed`, async (t) => {
    const opened = await visit(name, { allowedCidrs: opens })
    t.match(opened.plain, { status: 200, body: 'reached' })
    assertSome(t, opened.arrived, (address) => PRIVATE.includes(address), `arrived at ${opened.arrived}`)

    const closed = await visit(name)
    t.strictSame(closed.arrived, [])
    t.equal(closed.plain.status, undefined)
    t.equal(closed.tunnel, undefined)
    t.match(classifyFailure(closed.requestLog, `http://${name}/`), {
      code: 'BLOCKED_ADDRESS',
      message: `${name} resolves to an address that is not open to captures`,
    })
  })
}

for (const name of ['private-second.example', 'private-six.example']) {
  t.test(`Guard refuses ${name} entirely, because one of its addresses is private`, async (t) => {
    t.strictSame((await visit(name)).arrived, [])
    t.strictSame((await visit(name, { allowedCidrs: ['10.0.0.0/8', 'fc00::/7'] })).arrived, [PUBLIC, PUBLIC])
  })
}

t.test('Guard allows a listed name to resolve to the cluster, but to no denied address', async (t) => {
  const rules = { allowedHosts: ['*.sites.svc.cluster.local'], deniedCidrs: ['10.0.0.0/8'] }
  t.strictSame((await visit('web.sites.svc.cluster.local', rules)).arrived, ['10.1.2.3', '10.1.2.3'])
  t.strictSame((await visit('web.sites.svc.cluster.local')).arrived, [])
  t.strictSame((await visit('private.example', rules)).arrived, [])
  t.strictSame((await visit('evil.sites.svc.cluster.local', rules)).arrived, [])
  t.strictSame((await visit('pod.sites.svc.cluster.local', rules)).arrived, [])
})

t.test('Guard rejects the pod’s own address under any rules', async (t) => {
  const everything = { allowedHosts: ['*'], allowedCidrs: ['10.0.0.0/8', `${POD}/32`] }
  t.strictSame((await visit('pod.example', everything)).arrived, [])
  t.strictSame((await visit(POD, everything)).arrived, [])
  t.strictSame((await visit('private.example', everything)).arrived, ['10.1.2.3', '10.1.2.3'], 'the control')
})

t.test('Guard never follows DNS rebinding to a private address', async (t) => {
  const session = await guard.openSession()
  session.arm({ rules: DEFAULT_EGRESS_RULES, maxBytes: 1e6 })
  arrived.length = 0
  const statuses = new Set<number | undefined>()
  for (let i = 0; i < 20; i++) {
    statuses.add((await askThrough(session.proxyUrl, 'http://rebinding.example/', { headers: { connection: 'close' } })).status)
    await tunnelThrough(session.proxyUrl, 'rebinding.example:80')
  }
  session.close()
  t.ok(arrived.includes(PUBLIC), 'the public address is used')
  t.notOk(arrived.includes('10.1.2.3'))
  assertSome(t, session.requestLog.entries, ({ decision }) => decision === 'refused', 'the private address was resolved too')

  const opened = await guard.openSession()
  opened.arm({ rules: { ...DEFAULT_EGRESS_RULES, allowedCidrs: ['10.0.0.0/8'] }, maxBytes: 1e6 })
  for (let i = 0; i < 4; i++) await tunnelThrough(opened.proxyUrl, 'rebinding.example:80')
  opened.close()
  t.ok(arrived.includes('10.1.2.3'), 'the control')
})

t.test('Guard resolves the exact name, without search domains', async (t) => {
  const before = dns.queries.length
  await visit('nowhere.example')
  t.ok(dns.queries.slice(before).every((name) => name === 'nowhere.example'))
  t.ok(dns.queries.length > before)
})

const failures = [
  { name: 'nowhere.example', error: 'ENOTFOUND', message: 'nowhere.example does not resolve (ENOTFOUND)' },
  { name: 'empty.example', error: 'ENODATA', message: 'empty.example does not resolve (ENODATA)' },
  { name: 'broken.example', error: 'ESERVFAIL', message: 'broken.example could not be resolved (ESERVFAIL)' },
  { name: 'silent.example', error: 'ETIMEOUT', message: 'silent.example could not be resolved (ETIMEOUT)' },
]
for (const { name, error, message } of failures) {
  t.test(`Guard closes the connection and reports why when ${name} does not resolve`, async (t) => {
    const { plain, tunnel, arrived, requestLog } = await visit(name)
    t.equal(plain.status, undefined)
    t.equal(tunnel, undefined)
    t.strictSame(arrived, [])
    t.match(requestLog.entries, [
      { decision: 'failed', code: 'DNS_FAILED', error },
      { decision: 'failed', code: 'DNS_FAILED', error },
    ])
    t.strictSame(classifyFailure(requestLog, `http://${name}/`, 'net::ERR_EMPTY_RESPONSE'), { code: 'DNS_FAILED', message })
  })
}

t.test('Guard sends no DNS query for names that are rejected by their text', async (t) => {
  const before = dns.queries.length
  for (const name of ['kubernetes.default.svc.cluster.local', 'metadata.google.internal', 'localhost', 'private.example.'])
    await visit(name)
  t.equal(dns.queries.length, before)
})

const resolvers = {
  'The egress guard': createResolver({ dnsServers: [dns.address], dnsTimeoutMilliseconds: 5_000 }).resolve,
  'The operator': resolverOf([dns.address]),
}
for (const [who, resolve] of Object.entries(resolvers)) {
  t.test(`${who} uses the first sixteen addresses of each family of a name`, async (t) => {
    t.strictSame(await resolve('many.example'), [...MANY.four.slice(0, 16), ...MANY.six.slice(0, 16)])
  })
}

/** Some addresses of the list have no listener. */
const impatient = createGuard({ ownAddresses: [], connectTimeoutMilliseconds: 500 })

/** Requests a connection to port 80 of a host, sends a request, and returns everything after the SOCKS greeting. */
const exchange = async (proxyUrl: string, host: string): Promise<string> => {
  const socket = net.connect(Number(new URL(proxyUrl).port), '127.0.0.1')
  const name = Buffer.from(host)
  let answer = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1')
    if (answer.includes('reached')) socket.destroy()
    else if (answer.length === GREETED.length + AGREED_LENGTH) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  })
  socket.write(Buffer.concat([Buffer.from([5, 1, 0]), Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([0, 80])]))
  await once(socket, 'close')
  return answer.replace(GREETED, '')
}

const GREETED = '\x05\x00'
const AGREED_LENGTH = 10

/** Browsers send hosts as a URL has them, IPv6 addresses without brackets. A compromised browser may send anything. */
const spellingsOf = (host: string): string[] => {
  const canonical = new URL(`http://${host}`).hostname
  return [...new Set([host, canonical, canonical.replace(/^\[(.*)\]$/, '$1')])]
}

const attack = async (host: string, rules: Partial<EgressRules>) => {
  arrived.length = 0
  const session = await impatient.openSession()
  session.arm({ rules: { ...DEFAULT_EGRESS_RULES, ...rules }, maxBytes: 1e6 })
  const answers: string[] = []
  for (const spelling of spellingsOf(host)) answers.push(await exchange(session.proxyUrl, spelling))
  session.close()
  return {
    answers,
    arrived: [...arrived],
    verdicts: session.requestLog.entries.map(({ decision }) => decision),
    reasons: session.requestLog.entries.map(({ reason = '' }) => reason),
  }
}

for (const { host, means, opens } of LITERAL_ATTACKS) {
  t.test(`Guard rejects ${host}, and connects after its range is allowed`, async (t) => {
    const { arrived, answers, verdicts } = await attack(host, { allowedHosts: ['*'] })
    const closed = { arrived, answers: answers.filter((answer) => answer !== ''), verdicts: [...new Set(verdicts)] }
    t.strictSame(closed, { arrived: [], answers: [], verdicts: ['refused'] }, 'nothing arrives, and the browser gets no response')

    const opened = await attack(host, { allowedCidrs: opens })
    if (!NOT_PUT.has(means) || ON_LOOPBACK.has(means)) t.ok(opened.arrived.includes(means), `arrived at ${opened.arrived}`)
    else if (ENDS_ELSEWHERE.has(means))
      t.ok(opened.reasons.some((reason) => /reached (127\.0\.0\.1|::1), which is not one of its addresses/.test(reason)))
    else assertSome(t, opened.verdicts, (decision) => decision === 'failed', 'connection attempted without a response')
  })
}
