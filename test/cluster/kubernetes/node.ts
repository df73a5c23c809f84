/** The node: containerd with runc and CNI, kubelet, kube-proxy, and CoreDNS at the node's own address. */
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type Daemon, ensureDaemon, findEnd, isDaemonCurrent, isDaemonRunning, logOf, stopDaemon } from '../host/daemons.ts'
import { run } from '../host/exec.ts'
import { cgroupRoot, clusterDirectory, network, paths, runDirectory } from '../host/state.ts'
import { StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'
import { isRuntimeReady } from './cri.ts'
import { inside, insideNamespace, place } from './network.ts'
import { certificatePaths } from './pki.ts'
import { buildChromiumProfile, type ConditionalProfile } from './seccomp.ts'

/** The pause image. It is built locally, like all images here. */
export const pauseImage = 'localhost/tintype/pause:1'

/** Path below the kubelet's seccomp directory, for `localhostProfile` of pods. */
const chromiumProfile = 'profiles/tintype-chromium.json'

const inCluster = (name: string) => path.join(clusterDirectory, name)

/** Name and directories of a node. */
export interface NodeSettings {
  address: string
  podCidr: string
  /** Directory of configuration files and pods' logs. */
  directory: string
  runDirectory: string
  containerd: string
  containerdSocket: string
  cni: string
  cgroupRoot: string
  /** Serving certificate and key of the kubelet. */
  serving: { certificate: string; key: string }
}

const firstNode: NodeSettings = {
  address: network.nodeAddress,
  podCidr: network.podCidr,
  directory: clusterDirectory,
  runDirectory,
  containerd: paths.containerd,
  containerdSocket: paths.containerdSocket,
  cni: paths.cni,
  cgroupRoot,
  serving: certificatePaths(paths.pki, 'kubelet'),
}

/** The kubeconfig of one of the node's programs. */
export const kubeconfigOf = (name: string): string => inCluster(`${name}.kubeconfig`)

/** Runs ctr, containerd's client, on the cluster's images and containers. */
export function ctr(args: readonly string[], input?: string): Promise<string> {
  return run('ctr', ['--address', paths.containerdSocket, '--namespace', 'k8s.io', ...args], input === undefined ? {} : { input })
}

/** Starts containerd and waits until the kubelet can use it. */
export async function ensureContainerd(): Promise<boolean> {
  await mkdir(paths.cni, { recursive: true })
  await mkdir(runDirectory, { recursive: true })
  await writeFile(path.join(paths.cni, '10-tintype.conflist'), buildCniConfiguration(firstNode))
  const configuration = buildContainerdConfiguration(firstNode, await chooseSnapshotter())
  const file = inCluster('containerd.toml')
  await writeFile(file, configuration)
  const wasStarted = await ensureDaemon(
    place,
    await insideNamespace({ name: 'containerd', command: 'containerd', args: ['-c', file], configuration }),
  )
  await waitFor('containerd', () => isRuntimeReady(paths.containerdSocket), {
    timeoutMilliseconds: 20_000,
    findFailure: () => findEnd(place, 'containerd'),
  })
  return wasStarted
}

/** Starts kubelet and kube-proxy. */
export async function ensureKubelet(programs: string): Promise<boolean> {
  await installChromiumProfile(paths.kubelet)
  // Pods use the node's resolver. Its file has none of the host's search domains.
  await writeFile(inCluster('resolv.conf'), `nameserver ${network.nodeAddress}\n`)
  const configuration = buildKubeletConfiguration(firstNode)
  await writeFile(inCluster('kubelet.yaml'), configuration)
  const flags = ['--config', inCluster('kubelet.yaml'), '--kubeconfig', kubeconfigOf('kubelet'), '--root-dir', paths.kubelet]
  const kubelet: Daemon = {
    name: 'kubelet',
    command: path.join(programs, 'kubelet'),
    args: [...flags, '--hostname-override', network.nodeName, '--node-ip', network.nodeAddress],
    configuration,
  }
  const proxy: Daemon = {
    name: 'kube-proxy',
    command: path.join(programs, 'kube-proxy'),
    args: [
      ...['--kubeconfig', kubeconfigOf('kube-proxy'), '--proxy-mode', 'nftables', '--hostname-override', network.nodeName],
      // Conntrack limits cannot be set inside the namespace.
      ...['--cluster-cidr', network.podCidr, '--conntrack-max-per-core', '0', '--conntrack-min', '0'],
      ...['--conntrack-tcp-timeout-established', '0s', '--conntrack-tcp-timeout-close-wait', '0s'],
    ],
  }
  const [node, rules] = await Promise.all([ensureDaemon(place, await insideNamespace(kubelet)), ensureProxy(await insideNamespace(proxy))])
  return node || rules
}

/**
 * Deletes kube-proxy's tables before it starts, because it assumes that existing chains have rules. Its predecessor may have just emptied a
 * chain, for example after a restart of the API server, and that Service would then stay unreachable.
 */
async function ensureProxy(proxy: Daemon): Promise<boolean> {
  if (await isDaemonCurrent(place, proxy)) return false
  await stopDaemon(place, proxy.name)
  for (const family of ['ip', 'ip6']) await inside('sh', ['-c', `nft delete table ${family} kube-proxy 2>/dev/null || true`])
  return ensureDaemon(place, proxy)
}

/** Starts the cluster's name server. It forwards other names to the resolver of the host. @param directory of coredns */
export async function ensureDns(directory: string, hasOutboundNetwork: boolean): Promise<boolean> {
  const configuration = buildCorefile(hasOutboundNetwork)
  const file = inCluster('Corefile')
  await writeFile(file, configuration)
  const daemon = { name: 'coredns', command: path.join(directory, 'coredns'), args: ['-conf', file], configuration }
  return ensureDaemon(place, await insideNamespace(daemon))
}

/** @throws StepError when one of the node's programs has ended. */
export async function requireRunning(names: readonly string[]): Promise<void> {
  for (const name of names) {
    if (await isDaemonRunning(place, name)) continue
    throw new StepError(`${name} ended`, { remedy: 'read its log, then run `npm start` again', log: logOf(place, name) })
  }
}

/** The kubelet loads only profiles from its own directory. */
export async function installChromiumProfile(kubeletRoot: string): Promise<void> {
  const source = JSON.parse(await readFile('/usr/share/containers/seccomp.json', 'utf8')) as ConditionalProfile
  const file = path.join(kubeletRoot, 'seccomp', chromiumProfile)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(buildChromiumProfile(source, process.arch === 'arm64' ? 'arm64' : 'amd64'), undefined, 2)}\n`)
}

/** Creates the directories of the cluster's PersistentVolumes, owned by the user of MinIO. */
export async function ensureVolumeDirectories(names: readonly string[]): Promise<void> {
  for (const name of names) {
    const directory = path.join(paths.volumes, name)
    await mkdir(directory, { recursive: true })
    await chown(directory, 10_001, 10_001)
  }
}

/** The snapshotter of containerd. Overlays cannot be stacked, for example inside another container. */
export async function chooseSnapshotter(): Promise<string> {
  await mkdir(paths.containerd, { recursive: true })
  const kind = (await run('stat', ['-f', '-c', '%T', paths.containerd])).trim()
  return kind === 'overlayfs' ? 'native' : 'overlayfs'
}

/** The text of containerd's configuration. */
export function buildContainerdConfiguration(
  { containerd, runDirectory: run, containerdSocket, cni }: NodeSettings,
  snapshotter: string,
): string {
  return `version = 2
root = "${containerd}"
state = "${run}/containerd"
[grpc]
  address = "${containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  disable_apparmor = true
  # Without CAP_SYS_RESOURCE a score below the own one cannot be set, and no pod would start.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "${snapshotter}"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${cni}"
`
}

/** CNI type ptp: each pod has its own route, so Services work without the kernel's bridge filter. */
export function buildCniConfiguration({ podCidr, runDirectory: run }: NodeSettings): string {
  const ipam = {
    type: 'host-local',
    ranges: [[{ subnet: podCidr }]],
    routes: [{ dst: '0.0.0.0/0' }],
    dataDir: `${run}/ipam`,
  }
  return JSON.stringify({ cniVersion: '0.4.0', name: 'tintype', plugins: [{ type: 'ptp', ipMasq: true, ipam }] }, undefined, 2)
}

/** The text of a kubelet's configuration. */
export function buildKubeletConfiguration({ containerdSocket, cgroupRoot: root, directory, serving }: NodeSettings): string {
  return `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://${containerdSocket}
cgroupDriver: cgroupfs
cgroupRoot: ${root}
failSwapOn: false
failCgroupV1: false
authentication:
  anonymous: { enabled: false }
  webhook: { enabled: true }
  x509: { clientCAFile: "${certificatePaths(paths.pki, 'ca').certificate}" }
authorization: { mode: Webhook }
clusterDNS: ["${network.nodeAddress}"]
clusterDomain: cluster.local
resolvConf: "${path.join(directory, 'resolv.conf')}"
podLogsDir: "${path.join(directory, 'pod-logs')}"
tlsCertFile: "${serving.certificate}"
tlsPrivateKeyFile: "${serving.key}"
kubeAPIQPS: 100
kubeAPIBurst: 200
# Images are built here and can be pulled from nowhere: none is ever removed to make room.
imageGCHighThresholdPercent: 100
evictionHard: { memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1% }
`
}

function buildCorefile(hasOutboundNetwork: boolean): string {
  return `.:53 {
  bind ${network.nodeAddress}
  errors
  kubernetes cluster.local in-addr.arpa ip6.arpa {
    kubeconfig ${kubeconfigOf('coredns')}
    ttl 5
  }
${hasOutboundNetwork ? `  forward . ${network.outsideDns}\n` : ''}  cache 5
}
`
}
