import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import t from 'tap'
import { endWithProcess, isDaemonRunning, logOf, startDaemon, stopDaemon } from '../../cluster/host/daemons.ts'
import { run } from '../../cluster/host/exec.ts'
import { locatePrograms } from '../../cluster/programs/programs.ts'
import { ensureTool, locateTool } from '../../release/tools.ts'
import { eventually } from '../../support/eventually.ts'
import { endWithTest } from '../../support/processes/own-children.ts'
import { startOwnPlane } from '../../support/processes/own-plane.ts'
import { renderChart } from '../../support/sources/chart.ts'

// The chart's NetworkPolicies, enforced by kube-router on this machine's kernel. This file starts itself in a network namespace of its own, which is
// the node. Pods are further namespaces on a bridge: their objects are in a real API server, and their programs only listen.

const INSIDE = 'TINTYPE_TEST_NODE'
const NODE = '10.245.0.1'
const PODS = {
  'capture-runner': '10.245.0.11',
  minio: '10.245.0.12',
  'api-gateway': '10.245.0.13',
  operator: '10.245.0.14',
  stranger: '10.245.0.15',
} as const
type Pod = keyof typeof PODS
/** Ports on which every pod listens. */
const PORTS = [8080, 9000, 9001, 9090]
const LISTEN = `for (const port of ${JSON.stringify(PORTS)}) require('node:net').createServer((socket) => socket.end()).listen(port, '0.0.0.0')`

if (process.env[INSIDE] === undefined) {
  await ensureTool('kube-router')
  // tap reads the output of the child as if it were this file's.
  const child = spawn('unshare', ['--net', process.execPath, ...process.execArgv, import.meta.filename], {
    stdio: 'inherit',
    env: { ...process.env, [INSIDE]: '1' },
  })
  const [code] = (await once(child, 'close')) as [number | null]
  process.exit(code ?? 1)
}

const listeners: ChildProcess[] = []
const sh = (script: string): Promise<string> => run('sh', ['-ec', script])
const nameOf = (pod: Pod): string => `tt${process.pid}-${pod}`

await sh('ip link set lo up; ip link add br0 type bridge; ip addr add 10.245.0.1/24 dev br0; ip link set br0 up')
await sh('sysctl -qw net.ipv4.ip_forward=1 net.bridge.bridge-nf-call-iptables=1')
for (const [index, [pod, address]] of Object.entries(PODS).entries()) {
  const name = nameOf(pod as Pod)
  await sh(`ip netns add ${name}; ip link add v${index} type veth peer name eth0 netns ${name}; ip link set v${index} master br0 up
    ip -n ${name} link set lo up; ip -n ${name} addr add ${address}/24 dev eth0; ip -n ${name} link set eth0 up; ip -n ${name} route add default via ${NODE}`)
  const child = spawn('ip', ['netns', 'exec', name, process.execPath, '--eval', LISTEN], { stdio: 'ignore' })
  endWithTest(child)
  listeners.push(child)
}
t.teardown(async () => {
  for (const child of listeners) child.kill('SIGKILL')
  for (const pod of Object.keys(PODS) as Pod[]) await run('ip', ['netns', 'delete', nameOf(pod)])
})

const plane = await startOwnPlane(t)
const { kubernetes } = await locatePrograms()
const kubectl = (args: readonly string[], input?: string) =>
  run(path.join(kubernetes, 'kubectl'), ['--kubeconfig', plane.kubeconfigPath, ...args], input === undefined ? {} : { input })
const place = { records: path.join(plane.directory, 'engine'), logs: path.join(plane.directory, 'log') }

const podOf = (pod: string, address: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: pod,
    namespace: 'tintype',
    labels: {
      'app.kubernetes.io/name': pod === 'stranger' ? 'other' : 'tintype',
      'app.kubernetes.io/instance': 'tintype',
      'app.kubernetes.io/component': pod,
    },
  },
  spec: { nodeName: 'node1', automountServiceAccountToken: false, containers: [{ name: 'main', image: 'none' }] },
  status: { phase: 'Running', podIP: address, podIPs: [{ ip: address }], hostIP: NODE, hostIPs: [{ ip: NODE }] },
})

const policies = (await renderChart({}, ['--show-only', 'templates/network/policies.yaml'])).map((policy) => ({
  ...policy,
  metadata: { ...policy.metadata, namespace: 'tintype' },
}))
const objects = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tintype' } },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node1' }, spec: { podCIDR: '10.245.0.0/24' } },
]
await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
const setStatus = (object: string, status: object) =>
  kubectl(['patch', object, '-n', 'tintype', '--subresource=status', '-p', JSON.stringify({ status })])
await setStatus('node/node1', { addresses: [{ type: 'InternalIP', address: NODE }] })
for (const [pod, address] of Object.entries(PODS)) {
  const object = podOf(pod, address)
  await kubectl(['create', '-f', '-'], JSON.stringify(object))
  await setStatus(`pod/${pod}`, object.status)
}

/** How a connection from a pod to a port of another ends. */
async function connect(from: Pod, to: Pod, port: number): Promise<string> {
  const program = `const socket = require('node:net').connect({ host: '${PODS[to]}', port: ${port}, timeout: 1500 })
    const end = (result) => { console.log(result); process.exit(0) }
    socket.on('connect', () => end('connected')).on('timeout', () => end('refused')).on('error', () => end('refused'))`
  return (await run('ip', ['netns', 'exec', nameOf(from), process.execPath, '--eval', program])).trim()
}

const ALLOWED: [Pod, Pod, number][] = [
  ['capture-runner', 'minio', 9000],
  ['operator', 'minio', 9000],
  ['api-gateway', 'minio', 9000],
  ['operator', 'capture-runner', 8080],
  ['stranger', 'api-gateway', 8080],
]
const REFUSED: [Pod, Pod, number][] = [
  ['capture-runner', 'minio', 9001],
  ['capture-runner', 'api-gateway', 8080],
  ['capture-runner', 'stranger', 8080],
  ['capture-runner', 'operator', 9090],
  ['api-gateway', 'capture-runner', 8080],
  ['api-gateway', 'operator', 8080],
  ['stranger', 'minio', 9000],
  ['stranger', 'capture-runner', 8080],
]

t.test('without an engine, every pod reaches every other: control', async (t) => {
  await kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: policies }))
  for (const [from, to, port] of [...ALLOWED, ...REFUSED])
    await eventually(`${from} reaches ${to}:${port}`, async () => (await connect(from, to, port)) === 'connected')
  t.pass()
})

t.test('kube-router enforces the policies of the chart', async (t) => {
  await startEngine()
  t.teardown(() => stopDaemon(place, 'kube-router'))
  await eventually('the policies are enforced', async () => (await connect('stranger', 'minio', 9000)) === 'refused')
  for (const [from, to, port] of ALLOWED) t.equal(await connect(from, to, port), 'connected', `${from} to ${to}:${port}`)
  for (const [from, to, port] of REFUSED) t.equal(await connect(from, to, port), 'refused', `${from} to ${to}:${port}`)
})

async function startEngine(): Promise<void> {
  const forget = endWithProcess(place)
  t.teardown(forget)
  const off = ['--run-router=false', '--run-service-proxy=false', '--run-loadbalancer=false', '--enable-cni=false']
  const flags = ['--run-firewall=true', '--service-cluster-ip-range=10.96.0.0/16', ...off]
  await startDaemon(place, {
    name: 'kube-router',
    command: locateTool('kube-router'),
    args: [...flags, '--kubeconfig', plane.kubeconfigPath, '--hostname-override=node1', '--health-port=0'],
    environment: {},
  })
  if (!(await isDaemonRunning(place, 'kube-router'))) throw new Error(`kube-router ended: see ${logOf(place, 'kube-router')}`)
}
