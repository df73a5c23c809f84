/**
 * The node's network namespace: a bridge as its interface, a way out through slirp4netns, two ways in from the host's loopback.
 * Nothing crosses the host's network configuration: no interface, route or firewall rule of the host is touched.
 */
import { rm, stat } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import path from 'node:path'
import { type Daemon, type DaemonPlace, ensureDaemon, isDaemonCurrent, isDaemonRunning, stopDaemon } from '../host/daemons.ts'
import { run, succeeds } from '../host/exec.ts'
import { network, paths } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'

/** The place of the embedded cluster's daemons. */
export const place: DaemonPlace = { records: paths.daemons, logs: paths.logs }

const { namespace, namespacePath } = network

/** Whether the namespace is there and can be entered; after a restart of the machine a stale file may be all that is left. */
export function hasNamespace(): Promise<boolean> {
  return succeeds('nsenter', [`--net=${namespacePath}`, 'true'])
}

/** Makes the namespace and what is in it, as far as missing. Resolves to whether it was made. */
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
    ip route show default | grep -q . || ip route add default via 10.99.0.254 dev node0 # without one, nothing routed to a Service leaves a socket
    sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=0`
  await inside('sh', ['-c', script])
  return !isThere
}

/** Runs a program inside the namespace. */
export function inside(command: string, args: readonly string[], timeoutMilliseconds = 20_000): Promise<string> {
  return run('nsenter', [`--net=${namespacePath}`, command, ...args], { timeoutMilliseconds })
}

/** A daemon that lives in the namespace; a new namespace restarts it. */
export async function insideNamespace(daemon: Daemon): Promise<Daemon> {
  const { ino } = await stat(namespacePath)
  return { ...daemon, networkNamespace: namespacePath, configuration: `${daemon.configuration ?? ''}\n${namespacePath}=${ino}` }
}

/**
 * Gives the namespace a way out by the host's own sockets. Host loopback is closed to it, so that a page cannot reach what
 * listens there. Resolves to false where the kernel has no tun device: then pods reach the cluster only.
 */
export async function ensureWayOut(): Promise<boolean> {
  const { ino } = await stat(namespacePath)
  const flags = ['--configure', '--mtu=1500', '--disable-host-loopback', `--cidr=${network.outsideCidr}`, '--netns-type=path']
  await ensureDaemon(place, {
    name: 'way-out',
    command: 'slirp4netns',
    args: [...flags, namespacePath, 'tap0'],
    configuration: String(ino),
  })
  try {
    await waitFor('way out', async () => (await inside('ip', ['route', 'show', 'default'])).includes('tap0'), {
      timeoutMilliseconds: 5_000,
      givenUp: async () => ((await isDaemonRunning(place, 'way-out')) ? undefined : 'slirp4netns ended'),
    })
  } catch {
    return false
  }
  await inside('sh', ['-c', 'ip route del default dev node0 2>/dev/null || true'])
  return true
}

/** Opens the API server's and the gateway's ports on the host's loopback. Resolves to whether they had to be opened. */
export async function ensureWaysIn(): Promise<boolean> {
  const ways = [
    { port: network.hostApiPort, target: `${network.nodeAddress}:${network.apiPort}`, choice: 'TINTYPE_API_PORT' },
    { port: network.hostGatewayPort, target: `${network.nodeAddress}:${network.gatewayNodePort}`, choice: 'TINTYPE_GATEWAY_PORT' },
  ]
  const daemon = await insideNamespace({
    name: 'ways-in',
    command: process.execPath,
    args: [path.join(import.meta.dirname, 'ways-in.ts'), ...ways.map((way) => way.target)],
    configuration: ways.map((way) => way.port).join(),
  })
  if (await isDaemonCurrent(place, daemon)) return false
  await stopDaemon(place, daemon.name) // it holds the ports
  const servers: Server[] = []
  try {
    for (const way of ways) servers.push(await listenOnHost(way.port, way.choice))
    return await ensureDaemon(place, { ...daemon, descriptors: servers.map(descriptorOf) })
  } finally {
    for (const server of servers) server.close() // the daemon holds the sockets now
  }
}

function listenOnHost(port: number, choice: string): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const remedy = `end what listens there (ss -ltnp 'sport = :${port}'), or choose another port with ${choice}`
      reject(new StepError(`port ${port} on 127.0.0.1 cannot be opened`, { remedy, cause }))
    })
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

/** Node passes a listening socket to a child only by its descriptor, and only its handle knows that. */
const descriptorOf = (server: Server): number => (server as unknown as { _handle: { fd: number } })._handle.fd
