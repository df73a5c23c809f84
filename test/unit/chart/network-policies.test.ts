import { BlockList, isIPv6 } from 'node:net'
import t from 'tap'
import { REFUSED_RANGES } from '../../../crds/src/addresses/address-rules.ts'
import { assertEvery } from '../../support/accepts.ts'
import { find, renderChart } from '../../support/sources/chart.ts'

// NetworkPolicies block the same ranges as the address guard (crds/src/addresses/address-rules.ts).

interface Rule {
  to?: { ipBlock?: { cidr: string; except?: string[] }; podSelector?: object; namespaceSelector?: object }[]
  ports?: { protocol: string; port: number; endPort?: number }[]
}
interface Policy {
  spec: {
    podSelector: { matchLabels: Record<string, string> }
    policyTypes: string[]
    ingress?: { from?: { podSelector: { matchLabels: Record<string, string> } }[] }[]
    egress: Rule[]
  }
}

const policyOf = async (component: string, settings: Record<string, unknown> = {}) =>
  find<Policy>(await renderChart(settings), 'NetworkPolicy', `tintype-${component}`).spec

const within = (address: string, cidr: string) => {
  const list = new BlockList()
  const [network = '', prefix = ''] = cidr.split('/')
  if (isIPv6(network) !== isIPv6(address)) return false
  list.addSubnet(network, Number(prefix), isIPv6(network) ? 'ipv6' : 'ipv4')
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}

/** Whether rules allow a connection to an address outside the cluster's pods. */
const lets = (rules: readonly Rule[], address: string, port: number) =>
  rules.some(
    ({ to, ports }) =>
      (ports === undefined ||
        ports.some(({ protocol, port: first, endPort }) => protocol === 'TCP' && port >= first && port <= (endPort ?? first))) &&
      (to === undefined ||
        to.some(({ ipBlock }) => ipBlock && within(address, ipBlock.cidr) && !ipBlock.except?.some((except) => within(address, except)))),
  )

/** A port that no other rule opens (DNS, API server, store). */
const PORT = 80

t.test('chart lets runners reach public addresses', async (t) => {
  const { egress } = await policyOf('capture-runner')
  for (const address of ['93.184.216.34', '1.1.1.1', '172.32.0.1', '2606:2800:220:1::1', '2a00::1'])
    t.ok(lets(egress, address, PORT), address)
})

t.test('chart blocks runners from all addresses in the ranges that the guard rejects', async (t) => {
  const { egress } = await policyOf('capture-runner')
  const first = REFUSED_RANGES.map(({ cidr }) => cidr.split('/')[0] ?? '')
  const last = ['10.255.255.255', '169.254.169.254', '172.31.255.255', '192.168.255.255', '255.255.255.255', 'fdff::1']
  assertEvery(t, [...first, ...last], (address) => !lets(egress, address, PORT))
})

t.test('chart opens and blocks addresses for runners as the values say', async (t) => {
  const { egress } = await policyOf('capture-runner', {
    'runner.egress.allowedCidrs': ['10.1.0.0/16'],
    'runner.egress.deniedCidrs': ['1.1.1.0/24', '2a00::/16'],
  })
  t.ok(lets(egress, '10.1.2.3', PORT))
  t.notOk(lets(egress, '10.2.0.1', PORT))
  t.notOk(lets(egress, '1.1.1.1', PORT))
})

t.test('chart restricts API server access to the addresses in the values', async (t) => {
  const open = await policyOf('capture-runner')
  t.ok(lets(open.egress, '10.0.0.1', 6443), 'the control')
  const narrow = await policyOf('capture-runner', { 'networkPolicy.apiServer.cidrs': ['10.0.0.1/32'] })
  t.ok(lets(narrow.egress, '10.0.0.1', 6443))
  t.notOk(lets(narrow.egress, '10.0.0.2', 6443))
})

t.test('chart lets only the operator connect to runners, and only four components to the store', async (t) => {
  const callersOf = ({ ingress = [] }: Policy['spec']) =>
    ingress.flatMap(({ from = [] }) => from.map(({ podSelector }) => podSelector.matchLabels['app.kubernetes.io/component'])).sort()
  t.strictSame(callersOf(await policyOf('capture-runner')), ['operator'])
  t.strictSame(callersOf(await policyOf('minio')), ['api-gateway', 'capture-runner', 'operator', 'storage-setup'])
})

t.test('chart allows no egress from the store, and none to public addresses from the gateway', async (t) => {
  t.strictSame((await policyOf('minio')).egress, [])
  t.notOk(lets((await policyOf('api-gateway')).egress, '93.184.216.34', PORT))
})

t.test('chart lets the operator connect to public addresses, and to private ones that the values open', async (t) => {
  const { egress } = await policyOf('operator', { 'webhooks.allowedCidrs': ['10.1.0.0/16'] })
  t.ok(lets(egress, '93.184.216.34', PORT))
  t.ok(lets(egress, '10.1.2.3', PORT))
  t.notOk(lets(egress, '10.2.0.1', PORT))
})

t.test('chart has no network policies when they are disabled', async (t) => {
  assertEvery(t, await renderChart({ 'networkPolicy.enabled': false }), ({ kind }) => kind !== 'NetworkPolicy')
})
