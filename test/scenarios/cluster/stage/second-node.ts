/**
 * A second node of the local cluster, for tests of node failures. It has its own kubelet and containerd in its own network namespace,
 * connected to the first node's bridge by a veth pair. The first node translates the Services of its pods. Only pods that tolerate its
 * taint are scheduled on it.
 */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type DaemonPlace, ensureDaemon, stopDaemon } from '../../../cluster/host/daemons.ts'
import { run, succeeds } from '../../../cluster/host/exec.ts'
import { network, paths } from '../../../cluster/host/state.ts'
import { ensureCgroups, removeCgroups } from '../../../cluster/kubernetes/cgroups.ts'
import { ownMounts } from '../../../cluster/kubernetes/down.ts'
import { kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { inside } from '../../../cluster/kubernetes/network.ts'
import {
  buildCniConfiguration,
  buildContainerdConfiguration,
  buildKubeletConfiguration,
  chooseSnapshotter,
  installChromiumProfile,
  type NodeSettings,
  pauseImage,
} from '../../../cluster/kubernetes/node.ts'
import { buildKubeconfig, certificatePaths, createCertificate } from '../../../cluster/kubernetes/pki.ts'
import { locatePrograms } from '../../../cluster/programs/programs.ts'
import { eventually } from '../../../support/eventually.ts'

/** Node name, and the taint that keeps other pods off. */
export const SECOND_NODE = 'node2'
export const TAINT = { key: 'tintype.dev/soak', value: 'second-node', effect: 'NoSchedule' } as const

const NAMESPACE = 'tintype-node2'
const ADDRESS = '10.99.0.2'
const POD_CIDR = '10.245.2.0/24'
/** The first node's end of the veth pair. */
const LINK = 'node2-link'
const READY_MILLISECONDS = 180_000

const here = (script: string) => run('nsenter', [`--net=/run/netns/${NAMESPACE}`, 'sh', '-c', `set -e\n${script}`])

async function tie(): Promise<void> {
  if (!(await succeeds('nsenter', [`--net=/run/netns/${NAMESPACE}`, 'true']))) await run('ip', ['netns', 'add', NAMESPACE])
  await inside('sh', [
    '-c',
    `set -e
    ip link show ${LINK} >/dev/null 2>&1 || ip link add ${LINK} type veth peer name eth0 netns ${NAMESPACE}
    ip link set ${LINK} master node0 up
    ip route replace ${POD_CIDR} via ${ADDRESS} dev node0`,
  ])
  await here(`ip link set lo up
    ip addr replace ${ADDRESS}/24 dev eth0
    ip link set eth0 up
    ip route replace default via ${network.nodeAddress} dev eth0
    sysctl -qw net.ipv4.ip_forward=1`)
}

async function writeConfigurations(
  settings: NodeSettings,
  kubelet: string,
): Promise<{ containerd: string; kubelet: string; access: string }> {
  const file = (name: string) => path.join(settings.directory, name)
  for (const directory of [settings.cni, settings.runDirectory]) await mkdir(directory, { recursive: true })
  await writeFile(path.join(settings.cni, '10-tintype.conflist'), buildCniConfiguration(settings))
  await writeFile(file('containerd.toml'), buildContainerdConfiguration(settings, await chooseSnapshotter()))
  await writeFile(file('resolv.conf'), `nameserver ${network.nodeAddress}\n`)
  await writeFile(file('kubelet.yaml'), buildKubeletConfiguration(settings))
  const url = `https://${network.nodeAddress}:${network.apiPort}`
  const authority = certificatePaths(paths.pki, 'ca').certificate
  await writeFile(file('kubelet.kubeconfig'), await buildKubeconfig(url, authority, settings.serving), { mode: 0o600 })
  await installChromiumProfile(kubelet)
  return { containerd: file('containerd.toml'), kubelet: file('kubelet.yaml'), access: file('kubelet.kubeconfig') }
}

/** Starts the node with these images, and waits until it is ready. */
export async function startSecondNode(images: readonly string[], progress: (line: string) => void) {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-node2-'))
  const kubelet = path.join(directory, 'kubelet')
  const place: DaemonPlace = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  const identity = { user: `system:node:${SECOND_NODE}`, groups: ['system:nodes'], names: [`DNS:${SECOND_NODE}`, `IP:${ADDRESS}`] }
  const settings: NodeSettings = {
    address: ADDRESS,
    podCidr: POD_CIDR,
    directory,
    runDirectory: path.join(directory, 'run'),
    containerd: path.join(directory, 'containerd'),
    containerdSocket: path.join(directory, 'run', 'containerd.sock'),
    cni: path.join(directory, 'cni'),
    cgroupRoot: '/tintype-node2',
    serving: await createCertificate(paths.pki, 'kubelet-node2', identity),
  }
  const link = (state: 'up' | 'down') => inside('ip', ['link', 'set', LINK, state]).then(() => undefined)
  const ctr = (...args: string[]) => run('ctr', ['--address', settings.containerdSocket, '--namespace', 'k8s.io', ...args])
  const remove = () => removeNode(directory, place, settings, ctr)
  try {
    await tie()
    await ensureCgroups(settings.cgroupRoot)
    const files = await writeConfigurations(settings, kubelet)
    const inNamespace = { networkNamespace: `/run/netns/${NAMESPACE}` }
    await ensureDaemon(place, { name: 'containerd', command: 'containerd', args: ['-c', files.containerd], ...inNamespace })
    await eventually('the containerd of the node responds', () => ctr('version').then(Boolean))
    progress(`${SECOND_NODE} takes ${images.length + 1} images`)
    const script =
      'set -o pipefail; to=$1; shift; ctr --address "$0" -n k8s.io images export - "$@" | ctr --address "$to" -n k8s.io images import -'
    await run('bash', ['-c', script, paths.containerdSocket, settings.containerdSocket, pauseImage, ...images])
    const flags = ['--config', files.kubelet, '--kubeconfig', files.access, '--root-dir', kubelet]
    const { kubernetes } = await locatePrograms()
    await ensureDaemon(place, {
      name: 'kubelet',
      command: path.join(kubernetes, 'kubelet'),
      args: [
        ...[...flags, '--hostname-override', SECOND_NODE, '--node-ip', ADDRESS],
        ...['--register-with-taints', `${TAINT.key}=${TAINT.value}:${TAINT.effect}`],
      ],
      ...inNamespace,
    })
    await eventually(`${SECOND_NODE} is ready`, isReady, READY_MILLISECONDS)
  } catch (error) {
    await remove()
    throw error
  }
  /** `cut` drops all traffic between the node and the cluster. Its processes continue to run. */
  return { cut: () => link('down'), heal: () => link('up'), isReady, remove }
}

async function isReady(): Promise<boolean> {
  const query = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
  return (await kubectl(['get', 'node', SECOND_NODE, '--ignore-not-found', '-o', query])) === 'True'
}

/** Stops and removes only what this function started, mounted and created. */
async function removeNode(
  directory: string,
  place: DaemonPlace,
  { cgroupRoot, containerdSocket }: NodeSettings,
  ctr: (...args: string[]) => Promise<string>,
): Promise<void> {
  await stopDaemon(place, 'kubelet')
  if (await stat(containerdSocket).catch(() => undefined)) {
    const list = async (kind: string) => (await ctr(kind, 'list', '-q').catch(() => '')).split('\n').filter(Boolean)
    for (const task of await list('tasks')) await ctr('tasks', 'delete', '--force', task).catch(() => '')
    for (const container of await list('containers')) await ctr('containers', 'delete', container).catch(() => '')
  }
  await stopDaemon(place, 'containerd')
  await kubectl(['delete', 'node', SECOND_NODE, '--ignore-not-found', '--wait=false'])
  for (const mount of ownMounts(await readFile('/proc/mounts', 'utf8'), [directory]))
    if (!(await succeeds('umount', [mount]))) await succeeds('umount', ['--lazy', mount])
  await inside('sh', ['-c', `ip route del ${POD_CIDR} 2>/dev/null; ip link del ${LINK} 2>/dev/null; true`])
  await run('sh', ['-c', `[ ! -e /run/netns/${NAMESPACE} ] || ip netns delete ${NAMESPACE}`])
  await removeCgroups(cgroupRoot)
  await rm(directory, { recursive: true, force: true })
}
