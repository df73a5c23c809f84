/**
 * Where the local cluster keeps things, and the one reader of the environment in test/cluster. Nothing of it lies in the repository but
 * `.tintype/` (ignored by git), which tells scripts and tests where the cluster is.
 */
import { homedir } from 'node:os'
import path from 'node:path'

const environment = process.env

/** A second cluster beside the first, as tests of the cluster itself use: with a cache, ports and a checkout of its own. */
const instance = environment.TINTYPE_INSTANCE ? `-${environment.TINTYPE_INSTANCE}` : ''

/** The root of the checkout. */
export const repository = path.resolve(import.meta.dirname, '../../..')

/** Everything that may be thrown away to save disk space: programs, images, the cluster's state. */
export const cache = path.join(environment.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'tintype')

/** Programs built from Go modules; survives `npm stop -- --purge`. */
export const programsDirectory = path.join(cache, 'programs')

/** Image layers and hashes of what was built from what; survives `npm stop -- --purge`. */
export const imagesDirectory = path.join(cache, 'images')

/** The cluster's own state: certificates, etcd's store, logs, volumes. */
export const clusterDirectory = path.join(cache, 'cluster')

/** Sockets and mounts of the running cluster; emptied by a restart of the machine. */
export const runDirectory = `/run/tintype${instance}`

/** The kubelet's part of the machine's control groups. */
export const cgroupRoot = `/tintype${instance}`

/** What scripts and tests read: TINTYPE_URL, TINTYPE_API_KEY, KUBECONFIG. */
export const environmentFile = path.join(repository, '.tintype', 'env')

/** kubectl and helm of the cluster, for the user's PATH. */
export const toolsDirectory = path.join(repository, '.tintype', 'bin')

/** The picture that `npm start` takes to show that all works. */
export const firstScreenshotFile = path.join(repository, '.tintype', 'first-screenshot.png')

/** Paths inside the cluster's state. */
export const paths = {
  logs: path.join(clusterDirectory, 'log'),
  daemons: path.join(clusterDirectory, 'daemons'),
  pki: path.join(clusterDirectory, 'pki'),
  etcd: path.join(clusterDirectory, 'etcd'),
  kubelet: path.join(clusterDirectory, 'kubelet'),
  containerd: path.join(clusterDirectory, 'containerd'),
  volumes: path.join(clusterDirectory, 'volumes'),
  cni: path.join(clusterDirectory, 'cni'),
  lock: path.join(cache, 'lock'),
  containerdSocket: path.join(runDirectory, 'containerd.sock'),
  /** For people, scripts and tests: the API server by its way in over loopback. */
  kubeconfig: path.join(clusterDirectory, 'kubeconfig'),
} as const

/** Names and addresses of the node; they exist only inside its network namespace, but for the two ways in on loopback. */
export const network = {
  namespace: `tintype${instance}`,
  namespacePath: `/run/netns/tintype${instance}`,
  nodeName: 'node1',
  nodeAddress: '10.99.0.1',
  podCidr: '10.244.0.0/16',
  serviceCidr: '10.96.0.0/16',
  kubernetesService: '10.96.0.1',
  outsideCidr: '10.98.0.0/24',
  outsideGateway: '10.98.0.2',
  outsideDns: '10.98.0.3',
  apiPort: 6443,
  gatewayNodePort: 30_080,
  hostApiPort: Number(environment.TINTYPE_API_PORT ?? 16_443),
  hostGatewayPort: Number(environment.TINTYPE_GATEWAY_PORT ?? 18_080),
} as const

/** The helm release. */
export const releaseName = 'tintype'
export const releaseNamespace = 'tintype'

/** Where the pages to capture are served; the local RunnerPool may reach it. */
export const sitesNamespace = 'sites'

/** A page that no one here wrote, for the first screenshot. */
export const firstPage = 'http://docs.sites.svc.cluster.local/en-US/apt.html'

/** What the user chose by environment variables. */
export const choices = {
  /** `current` uses the current kubectl context and starts no cluster. */
  cluster: environment.TINTYPE_CLUSTER === 'current' ? 'current' : 'embedded',
  /** Names the current kubectl context's file, if it is not the usual one. */
  kubeconfig: environment.KUBECONFIG || undefined,
  /** Where another cluster pulls the images from; the embedded one has them loaded. */
  registry: environment.TINTYPE_REGISTRY || undefined,
  /** Benchmarks write through to the disk, as a real etcd does; else the store is only as durable as the page cache. */
  etcdFsync: environment.TINTYPE_ETCD_FSYNC === '1',
  upstreamProxy: environment.HTTPS_PROXY || environment.https_proxy || undefined,
} as const
