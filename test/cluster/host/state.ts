/**
 * Paths and settings of the local cluster. Only this file reads environment variables in test/cluster. In the repository the cluster uses only
 * `.tintype/` (ignored by git), from which scripts and tests read its URL and key.
 */
import { homedir } from 'node:os'
import path from 'node:path'

const environment = process.env

/** Suffix of a second cluster on the machine, for tests of the cluster itself. It has its own cache, ports and checkout. */
const instance = environment.TINTYPE_INSTANCE ? `-${environment.TINTYPE_INSTANCE}` : ''

/** The root of the checkout. */
export const repository = path.resolve(import.meta.dirname, '../../..')

/** Everything that can be deleted to save disk space: programs, images, the cluster's state. */
export const cache = path.join(environment.XDG_CACHE_HOME || path.join(homedir(), '.cache'), 'tintype')

/** Programs built from Go modules. `npm stop -- --purge` keeps them. */
export const programsDirectory = path.join(cache, 'programs')

/** Image layers and digests of their sources. `npm stop -- --purge` keeps them. */
export const imagesDirectory = path.join(cache, 'images')

/** The cluster's own state: certificates, etcd's store, logs, volumes. */
export const clusterDirectory = path.join(cache, 'cluster')

/** Sockets and mounts of the running cluster. A restart of the machine removes them. */
export const runDirectory = `/run/tintype${instance}`

/** Parent of the kubelet's control groups. */
export const cgroupRoot = `/tintype${instance}`

/** TINTYPE_URL, TINTYPE_API_KEY and KUBECONFIG for scripts and tests. */
export const environmentFile = path.join(repository, '.tintype', 'env')

/** kubectl and helm of the cluster, for the user's PATH. */
export const toolsDirectory = path.join(repository, '.tintype', 'bin')

/** The screenshot that `npm start` takes to check that everything works. */
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
  /** For users, scripts and tests: reaches the API server through the port on loopback. */
  kubeconfig: path.join(clusterDirectory, 'kubeconfig'),
} as const

/** Names and addresses of the node. Except for the two `host…Port` on loopback they exist only inside its network namespace. */
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

/** Namespace of the servers with test pages. Egress of the local RunnerPool allows it. */
export const sitesNamespace = 'sites'

/** A page of the Debian handbook, for the first screenshot. */
export const firstPage = 'http://docs.sites.svc.cluster.local/en-US/apt.html'

/** Settings from environment variables. */
export const choices = {
  /** `current` uses the current kubectl context and starts no cluster. */
  cluster: environment.TINTYPE_CLUSTER === 'current' ? 'current' : 'embedded',
  /** Path of the kubeconfig, if it is not the default one. */
  kubeconfig: environment.KUBECONFIG || undefined,
  /** Registry from which another cluster pulls the images. They are loaded into the embedded one. */
  registry: environment.TINTYPE_REGISTRY || undefined,
  /** Benchmarks turn fsync on, as production clusters do. Without it a crash of the machine can lose etcd's latest writes. */
  etcdFsync: environment.TINTYPE_ETCD_FSYNC === '1',
  /** End-to-end tests wait for all three attempts of a webhook. Everybody else gets the delays of the chart. */
  shortRetries: environment.TINTYPE_SHORT_RETRIES === '1',
  upstreamProxy: environment.HTTPS_PROXY || environment.https_proxy || undefined,
} as const
