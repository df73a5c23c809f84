// Requests every spelling of a private address from the guard. Denied, no connection may arrive; allowed, it must. One listener on all
// addresses of the test's own network namespace records what arrives.

import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { createGuard } from '../../../capture-runner/src/egress/guard.ts'
import { DEFAULT_EGRESS_RULES, type EgressRules } from '../../../crds/src/addresses/address-rules.ts'
import { LITERAL_ATTACKS } from '../../support/attack/attack-list.ts'
import { enterNamespace } from '../../support/processes/in-namespace.ts'

/** Addresses that need not or cannot be assigned to an interface. */
const NOT_PUT = new Set([
  '::7f00:1',
  'fe80::1',
  '0.0.0.0',
  '0.0.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'ff02::1',
])
/** Addresses of the list that loopback already has. */
const ON_LOOPBACK = new Set(['127.0.0.1', '127.255.255.254', '::1'])
/** Linux connects these to loopback. When they are allowed, the guard connects, and its check of the socket's peer address rejects them. */
const ENDS_ELSEWHERE = new Set(['0.0.0.0', '::'])

enterNamespace(
  import.meta.filename,
  [...new Set(LITERAL_ATTACKS.map(({ means }) => means))].filter((address) => !NOT_PUT.has(address)),
)
const { default: t } = await import('tap')

const arrived: string[] = []
const listener = http.createServer((request, response) => {
  arrived.push((request.socket.localAddress ?? '').replace(/^::ffff:(?=.*\.)/, ''))
  response.end('reached')
})
listener.listen(80, '::')
await once(listener, 'listening')
t.teardown(() => {
  listener.closeAllConnections()
  listener.close()
})

const guard = createGuard({ ownAddresses: [], connectTimeoutMilliseconds: 500 })

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
  const session = await guard.openSession()
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
    else
      t.ok(
        opened.verdicts.some((decision) => decision === 'failed'),
        'connection attempted without a response',
      )
  })
}
