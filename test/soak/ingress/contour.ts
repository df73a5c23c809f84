/**
 * Contour and Envoy in the running local cluster. Both programs run in the network namespace of the node, so Envoy reaches pods as a pod of the host's
 * network does. Contour has its own CRDs, namespace and rights, those of the Gateway API, and a token of its ServiceAccount.
 */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { undoing } from '../../bench/report/undo.ts'
import { endWithProcess, logOf, startDaemon, stopDaemon } from '../../cluster/host/daemons.ts'
import { run } from '../../cluster/host/exec.ts'
import { network, paths } from '../../cluster/host/state.ts'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { inside } from '../../cluster/kubernetes/network.ts'
import { certificatePaths } from '../../cluster/kubernetes/pki.ts'
import { ensurePythonTools, locatePythonTools } from '../../fuzz/python-tools.ts'
import { ensureTool, findToolSource, locateTool } from '../../release/tools.ts'

const ENVOY = path.join(import.meta.dirname, 'requirements.txt')
const NAMESPACE = 'projectcontour'
const XDS_PORT = 8001
/** Contour's manifests of its CRDs and rights, and those of the Gateway API, in the order in which they are applied. */
const MANIFESTS = [
  'contour/00-common.yaml',
  'contour/01-crds.yaml',
  'contour/02-role-contour.yaml',
  'contour/02-rbac.yaml',
  'gateway/00-crds.yaml',
]

/** A request in the access log of Envoy, with the names that Contour gives its fields. */
export interface AccessLine {
  request_id: string
  downstream_remote_address: string
  x_forwarded_for: string
  path: string
  response_code: number
  response_flags: string
}

export interface Contour {
  /** Starts Contour and Envoy, and ends them after `act`. With a Gateway, Contour serves that Gateway, and otherwise the ports 8080 and 8443. */
  serve: <T>(gateway: { name: string; namespace: string } | undefined, act: (envoy: Envoy) => Promise<T>) => Promise<T>
}

export interface Envoy {
  /** Address inside the network namespace of the node. */
  address: string
  /** Ports for a Service with the ports 80 and 443: Contour adds 8000 to each. */
  httpPort: number
  httpsPort: number
  readAccessLog: () => Promise<AccessLine[]>
}

/** Builds Contour, installs Envoy, applies the CRDs, and removes them after `act`. */
export async function withContour<T>(progress: (line: string) => void, act: (contour: Contour) => Promise<T>): Promise<T> {
  progress(`Contour: ${await ensureTool('contour', progress)}`)
  progress(`Envoy: ${await ensurePythonTools(ENVOY)}`)
  const examples = path.join(await findToolSource('contour'), 'examples')
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-contour-'))
  const files = MANIFESTS.map((manifest) => path.join(examples, manifest))
  const remove = async () => {
    for (const file of files.toReversed()) await kubectl(['delete', '-f', file, '--ignore-not-found', '--timeout=120s'])
    await rm(directory, { recursive: true, force: true })
  }
  return undoing(remove, async () => {
    for (const file of files) await kubectl(['apply', '--server-side', '-f', file])
    await kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'])
    return act({ serve: (gateway, use) => serve(directory, gateway, use) })
  })
}

async function serve<T>(
  directory: string,
  gateway: { name: string; namespace: string } | undefined,
  act: (envoy: Envoy) => Promise<T>,
): Promise<T> {
  const place = { records: path.join(directory, 'daemons'), logs: path.join(directory, 'log') }
  const file = (name: string) => path.join(directory, name)
  const accessLog = file('access.log')
  await writeFile(accessLog, '')
  // JSON is also YAML.
  await writeFile(
    file('contour.json'),
    JSON.stringify({ 'accesslog-format': 'json', ...(gateway ? { gateway: { gatewayRef: gateway } } : {}) }),
  )
  await writeFile(file('kubeconfig'), await buildTokenConfig(), { mode: 0o600 })
  const contour = locateTool('contour')
  const bootstrap = ['--xds-address=127.0.0.1', `--xds-port=${XDS_PORT}`, `--admin-address=${file('admin.sock')}`]
  await run(contour, ['bootstrap', file('envoy.json'), ...bootstrap])

  const inNamespace = { networkNamespace: network.namespacePath, directory }
  const forget = endWithProcess(place)
  const stop = async () => {
    for (const name of ['envoy', 'contour']) await stopDaemon(place, name)
    forget()
  }
  return undoing(stop, async () => {
    await startDaemon(place, {
      name: 'contour',
      command: contour,
      args: [
        ...['serve', '--insecure', '--disable-leader-election', '--xds-address=127.0.0.1', `--xds-port=${XDS_PORT}`],
        ...['--health-address=127.0.0.1', '--http-address=127.0.0.1', '--ingress-class-name=contour'],
        ...[`--kubeconfig=${file('kubeconfig')}`, `--config-path=${file('contour.json')}`],
        ...[`--envoy-http-access-log=${accessLog}`, `--envoy-https-access-log=${accessLog}`],
      ],
      ...inNamespace,
    })
    await startDaemon(place, {
      name: 'envoy',
      command: path.join(await locatePythonTools(ENVOY), 'envoy'),
      args: ['-c', file('envoy.json'), '--service-cluster', NAMESPACE, '--service-node', 'node1', '--log-level', 'warn'],
      ...inNamespace,
    })
    const readAccessLog = async () => parseLines<AccessLine>(await readFile(accessLog, 'utf8'))
    try {
      return await act({ address: network.nodeAddress, httpPort: 8080, httpsPort: 8443, readAccessLog })
    } catch (error) {
      for (const name of ['contour', 'envoy']) if (existsSync(logOf(place, name))) console.error(await readTail(logOf(place, name)))
      throw error
    }
  })
}

/** The kubeconfig of Contour's ServiceAccount, with the address of the API server inside the namespace. */
async function buildTokenConfig(): Promise<string> {
  const token = (await kubectl(['create', 'token', 'contour', '-n', NAMESPACE, '--duration=1h'])).trim()
  const server = `https://${network.nodeAddress}:${network.apiPort}`
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'local', cluster: { server, 'certificate-authority': certificatePaths(paths.pki, 'ca').certificate } }],
    users: [{ name: 'contour', user: { token } }],
    contexts: [{ name: 'local', context: { cluster: 'local', user: 'contour', namespace: NAMESPACE } }],
    'current-context': 'local',
  })
}

/** Parses a log with one JSON object a line, and skips other lines. */
export function parseLines<T>(text: string): T[] {
  return text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as T] : []))
}

const readTail = async (file: string): Promise<string> => (await readFile(file, 'utf8')).split('\n').slice(-40).join('\n')

/** Adds an address for clients to the network namespace, so that they come from outside the ranges of pods and nodes. */
export async function withClientAddress<T>(address: string, act: () => Promise<T>): Promise<T> {
  const change = (verb: string) => inside('ip', ['address', verb, `${address}/32`, 'dev', 'lo'])
  await change('replace')
  return undoing(() => change('delete'), act)
}
