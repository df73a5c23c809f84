import t from 'tap'
import { createResolver } from '../../../capture-runner/src/egress/resolve.ts'
import { resolverOf } from '../../../operator/src/controllers/delivery/http/network.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'

// A name server of an attacker can return thousands of addresses for a name. Each would be checked, dialed and listed in an error message.

const four = Array.from({ length: 40 }, (_, n) => `93.184.215.${n}`)
const six = Array.from({ length: 40 }, (_, n) => `2606:2800:21f::${(n + 1).toString(16)}`)
const dns = await startDnsServer((name) => (name === 'many.example' ? { addresses: [...four, ...six] } : undefined))
t.teardown(() => dns.close())

const resolvers = {
  'The egress guard': createResolver({ dnsServers: [dns.address], dnsTimeoutMilliseconds: 5_000 }).resolve,
  'The operator': resolverOf([dns.address]),
}
for (const [who, resolve] of Object.entries(resolvers)) {
  t.test(`${who} uses the first sixteen addresses of each family of a name`, async (t) => {
    t.strictSame(await resolve('many.example'), [...four.slice(0, 16), ...six.slice(0, 16)])
  })
}
