/**
 * The node's network namespace: a bridge as its interface, outbound traffic through slirp4netns, and two ports on the host's loopback. The host's
 * network configuration stays unchanged: no interface, route or firewall rule of the host is touched.
 */
import { rm, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import path from 'node:path'
import { type Daemon, type DaemonPlace, ensureDaemon, isDaemonCurrent, isDaemonRunning, stopDaemon } from '../host/daemons.ts'
import { type RunOptions, run, succeeds } from '../host/exec.ts'
import { network, paths } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'

/** Directories of the embedded cluster's daemons. */
export const place: DaemonPlace = { records: paths.daemons, logs: paths.logs }

const { namespace, namespacePath } = network

/**
 * Tests add addresses of this range to the node, for servers that must be public: the service refuses documentation addresses. A request that is sent
 * after such a server has ended must not leave the machine.
 */
const PRETENDED_PUBLIC = '203.0.114.0/24'

/** True when the namespace exists and can be entered. After a restart of the machine only a stale file may be left. */
export function hasNamespace(): Promise<boolean> {
  return succeeds('nsenter', [`--net=${namespacePath}`, 'true'])
}

/** Creates the namespace and its interface if they are missing. Resolves to true when the namespace was created. */
export async function ensureNamespace(): Promise<boolean> {
  const isThere = await hasNamespace()
  if (!isThere) {
    await rm(namespacePath, { force: true })
    await run('ip', ['netns', 'add', namespace])
  }
  const script = `set -e
    ip link set lo up
    ip link show node0 >/dev/null 2>&1 || ip link add node0 type bridge # a kernel may lack the dummy driver
    ip addr replace ${network.nodeAddress}/24 dev node0
    ip link set node0 up
    ip route show default | grep -q . || ip route add default via 10.99.0.254 dev node0 # without a default route, connections to Services fail
    ip route replace prohibit ${PRETENDED_PUBLIC}
    sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=0`
  await inside('sh', ['-c', script])
  return !isThere
}

/** Runs a program inside the namespace. */
export function inside(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  return run('nsenter', [`--net=${namespacePath}`, command, ...args], { timeoutMilliseconds: 20_000, ...options })
}

/** Makes a daemon run in the namespace. A new namespace restarts it. */
export async function insideNamespace(daemon: Daemon): Promise<Daemon> {
  const { ino } = await stat(namespacePath)
  return { ...daemon, networkNamespace: namespacePath, configuration: `${daemon.configuration ?? ''}\n${namespacePath}=${ino}` }
}

/**
 * Connects the namespace to the outside through sockets of the host. The host's loopback stays unreachable, so that a page cannot reach services
 * there. Resolves to false if the kernel has no tun device. Pods then reach only the cluster.
 */
export async function ensureOutboundNetwork(): Promise<boolean> {
  const { ino } = await stat(namespacePath)
  const flags = ['--configure', '--mtu=1500', '--disable-host-loopback', `--cidr=${network.outsideCidr}`, '--netns-type=path']
  await ensureDaemon(place, {
    name: 'slirp4netns',
    command: 'slirp4netns',
    args: [...flags, namespacePath, 'tap0'],
    configuration: String(ino),
  })
  try {
    await waitFor('outbound network', async () => (await inside('ip', ['route', 'show', 'default'])).includes('tap0'), {
      timeoutMilliseconds: 5_000,
      findFailure: async () => ((await isDaemonRunning(place, 'slirp4netns')) ? undefined : 'slirp4netns ended'),
    })
  } catch {
    return false
  }
  await inside('sh', ['-c', 'ip route del default dev node0 2>/dev/null || true'])
  return true
}

/** Opens the API server's and the gateway's ports on the host's loopback. Resolves to false when they were already open. */
export async function ensureLoopbackProxy(): Promise<boolean> {
  const ports = [
    { port: network.hostApiPort, target: `${network.nodeAddress}:${network.apiPort}`, variable: 'TINTYPE_API_PORT' },
    { port: network.hostGatewayPort, target: `${network.nodeAddress}:${network.gatewayNodePort}`, variable: 'TINTYPE_GATEWAY_PORT' },
  ]
  const daemon = await insideNamespace({
    name: 'loopback-proxy',
    command: process.execPath,
    args: [path.join(import.meta.dirname, 'loopback-proxy.ts'), ...ports.map(({ target }) => target)],
    configuration: ports.map(({ port }) => port).join(),
  })
  if (await isDaemonCurrent(place, daemon)) return false
  await stopDaemon(place, daemon.name) // a running daemon holds the ports
  const servers: Server[] = []
  try {
    for (const { port, variable } of ports) servers.push(await listenOnHost(port, variable))
    return await ensureDaemon(place, { ...daemon, descriptors: servers.map(descriptorOf) })
  } finally {
    for (const server of servers) server.close() // the daemon holds the sockets now
  }
}

function listenOnHost(port: number, variable: string): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const remedy = `stop the program that listens there (ss -ltnp 'sport = :${port}'), or set ${variable} to another port`
      reject(new StepError(`port ${port} on 127.0.0.1 is not available`, { remedy, cause }))
    })
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

/** Node can pass a listening socket to a child only by its descriptor, and only the internal handle has it. */
export const descriptorOf = (server: Server): number => (server as unknown as { _handle: { fd: number } })._handle.fd
