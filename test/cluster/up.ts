/** Starts the embedded cluster step by step. Each step does only what is missing, so a repeated run repairs the cluster. */
import path from 'node:path'
import { ensureDaemon, isDaemonRunning, logOf } from './host/daemons.ts'
import { CommandError } from './host/exec.ts'
import { ensurePackages } from './host/packages.ts'
import { network, paths } from './host/state.ts'
import { type Step, StepError } from './host/steps.ts'
import { waitFor } from './host/wait.ts'
import { ensurePause } from './images/pause.ts'
import { buildApiServer, waitUntilReady } from './kubernetes/control-plane.ts'
import { hostUrl } from './kubernetes/identities.ts'
import { findInternet } from './kubernetes/internet.ts'
import { kubectl } from './kubernetes/kubectl.ts'
import { ensureLoopbackProxy, insideNamespace, place } from './kubernetes/network.ts'
import { ensureContainerd, ensureDns, ensureKubelet, kubeconfigOf, requireRunning } from './kubernetes/node.ts'
import { certificatePaths } from './kubernetes/pki.ts'
import { alreadyUp, type ClusterFacts, controlPlaneSettings, ensureEtcd, ensurePrerequisites } from './kubernetes/prerequisites.ts'
import { ensureVolumes } from './kubernetes/volumes.ts'
import { buildKubernetes, buildMinio, locatePrograms } from './programs/programs.ts'

/** Installs packages and builds programs. `morePackages` are additional Debian packages. */
export function toolSteps(morePackages: readonly string[] = []): [packages: Step, kubernetes: Step, minio: Step] {
  return [
    { name: 'Debian packages', run: (report) => ensurePackages(report, morePackages) },
    { name: 'Kubernetes programs', run: (report) => built(buildKubernetes(report)) },
    { name: 'MinIO', run: (report) => built(buildMinio(report)) },
  ]
}

/** The steps after those of the tools, in order. They fill `facts`. */
export function clusterSteps(facts: ClusterFacts): Step[] {
  return [
    { name: 'Network and certificates', run: () => ensurePrerequisites(facts) },
    { name: 'etcd', run: () => ensureEtcd(facts) },
    { name: 'API server', run: ensureApiServer },
    { name: 'Controllers and scheduler', run: ensureControllers },
    { name: 'Container runtime', run: async () => ((await ensureContainerd()) ? 'containerd started' : alreadyUp) },
    { name: 'Node', run: () => ensureNode(facts) },
    { name: 'Node ready', run: () => awaitNode(facts) },
  ]
}

/** Describes the result of a build. @throws StepError when it failed */
export async function built(build: Promise<boolean>): Promise<string> {
  try {
    return (await build) ? 'built' : 'already built'
  } catch (cause) {
    const remedy =
      'put Go 1.26 or newer on the PATH, make its module proxy reachable (go env GOPROXY), then run `npm start` again; finished builds are kept'
    throw new StepError('programs could not be built', { remedy, cause })
  }
}

async function ensureApiServer(): Promise<string> {
  const wasStarted = await ensureDaemon(place, await insideNamespace(buildApiServer(await controlPlaneSettings())))
  const wasOpened = await ensureLoopbackProxy()
  try {
    await waitUntilReady(place, hostUrl, certificatePaths(paths.pki, 'ca').certificate)
  } catch (cause) {
    throw new StepError('the API server did not become ready', {
      remedy: 'read its log; `npm stop -- --purge` resets the cluster',
      log: logOf(place, 'kube-apiserver'),
      cause,
    })
  }
  return wasStarted || wasOpened ? `started, ${hostUrl} on this machine` : alreadyUp
}

async function ensureControllers(): Promise<string> {
  const { kubernetes } = await locatePrograms()
  const authority = certificatePaths(paths.pki, 'ca')
  const controllers = {
    kubeconfig: kubeconfigOf('kube-controller-manager'),
    'service-account-private-key-file': path.join(paths.pki, 'service-accounts.key'),
    'root-ca-file': authority.certificate,
    'cluster-signing-cert-file': authority.certificate,
    'cluster-signing-key-file': authority.key,
    'use-service-account-credentials': true,
    'leader-elect': false,
    'kube-api-qps': 100,
    'kube-api-burst': 200,
  }
  const scheduler = { kubeconfig: kubeconfigOf('kube-scheduler'), 'leader-elect': false }
  const daemons = Object.entries({ 'kube-controller-manager': controllers, 'kube-scheduler': scheduler }).map(([name, flags]) => ({
    name,
    command: path.join(kubernetes, name),
    args: Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`),
  }))
  const started = await Promise.all(daemons.map(async (daemon) => ensureDaemon(place, await insideNamespace(daemon))))
  return started.some(Boolean) ? 'started' : alreadyUp
}

async function ensureNode(facts: ClusterFacts): Promise<string> {
  const { kubernetes } = await locatePrograms()
  await ensurePause()
  const started = await Promise.all([ensureKubelet(kubernetes), ensureDns(kubernetes, facts.hasOutboundNetwork)])
  return started.some(Boolean) ? 'kubelet, kube-proxy and CoreDNS started' : alreadyUp
}

async function awaitNode(facts: ClusterFacts): Promise<string> {
  const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'containerd', 'kubelet', 'kube-proxy', 'coredns']
  const [internet] = await Promise.all([
    findInternet(facts.hasOutboundNetwork),
    // Pods cannot be created before the `default` service account exists.
    kubectl(['wait', '--for=create', 'serviceaccount/default', '-n', 'default', '--timeout=60s']),
    awaitReady(),
    ensureVolumes(),
  ])
  facts.internet = internet
  await requireRunning(programs)
  return `internet from the cluster: ${internet}`
}

/** While everything else starts, the kubelet may fail for a temporary reason, so it is restarted up to two times. */
async function awaitReady(): Promise<void> {
  const query = ['get', 'node', network.nodeName, '--ignore-not-found', '-o', 'jsonpath={.status.conditions[?(@.type=="Ready")].status}']
  const { kubernetes } = await locatePrograms()
  let triesLeft = 2
  const reviveKubelet = async () => {
    if (await isDaemonRunning(place, 'kubelet')) return undefined
    if (triesLeft-- === 0) return 'kubelet ended three times'
    await ensureKubelet(kubernetes)
    return undefined
  }
  try {
    // Before a restarted kubelet reports, the node may still have the old condition Ready.
    const isReady = async () => (await isDaemonRunning(place, 'kubelet')) && (await kubectl(query).catch(ignoreCommandError)) === 'True'
    await waitFor('node', isReady, {
      timeoutMilliseconds: 60_000,
      intervalMilliseconds: 250,
      findFailure: reviveKubelet,
    })
  } catch (cause) {
    throw new StepError('the node did not become ready', {
      remedy: 'read its log, then run `npm start` again',
      log: logOf(place, 'kubelet'),
      cause,
    })
  }
}

/** An API server that has just started may still reject some requests. */
function ignoreCommandError(error: unknown): undefined {
  if (!(error instanceof CommandError)) throw error
}
