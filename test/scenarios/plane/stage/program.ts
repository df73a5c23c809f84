import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Pod, pods } from '../../../../crds/client/kinds.ts'
import type { KubeHttp } from '../../../../crds/client/kube-http.ts'
import { mergePatch, type NewObject, Resource } from '../../../../crds/client/resource.ts'
import { findFreePorts } from '../../../cluster/host/ports.ts'
import { bundleProgram } from '../../../cluster/images/bundle.ts'
import { NODE_ENVIRONMENT, NODE_FLAGS, withAccount } from '../../../support/processes/as-in-pod.ts'
import { type LineProgram, openLines } from '../../harness/line-program.ts'

// Operators and gateways as in their images: bundled, with the flags of the images, and with service account files instead of a kubeconfig.

// An operator as a pod of the cluster: the pod object exists, and its status follows the process as with a kubelet.

/** A running program. */
export type Program = Awaited<ReturnType<typeof startProgram>>

/** Settings to start a program. */
interface ProgramPlan {
  name: 'operator' | 'api-gateway'
  /** Directory of bundles and service account files. */
  directory: string
  environment: Record<string, string>
  /** Node flags in addition to those of the image. */
  flags?: readonly string[]
  /** Main file of another version's bundle. Default: this version, bundled on first use. */
  main?: string | undefined
}

const MAX_OUTPUT = 200_000

const bundles = new Map<string, Promise<string>>()

function bundleOf(name: ProgramPlan['name'], directory: string): Promise<string> {
  const place = path.join(directory, `bundle-${name}`)
  const bundle = bundles.get(place) ?? bundleProgram(name, place).then(() => path.join(place, 'app/main.mjs'))
  bundles.set(place, bundle)
  return bundle
}

/** Starts a program. The caller must wait until it is ready. */
export async function startProgram({ name, directory, environment, flags = [], ...plan }: ProgramPlan) {
  const main = plan.main ?? (await bundleOf(name, directory))
  const [metricsPort = 0] = await findFreePorts(1)
  const node = [process.execPath, ...NODE_FLAGS, ...flags, main]
  const [command, ...args] = withAccount(path.join(directory, `account-${name}`), node)
  const env = { PATH: process.env.PATH ?? '', HOME: '/tmp', TINTYPE_METRICS_PORT: String(metricsPort), ...NODE_ENVIRONMENT, ...environment }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const counts = new Map<string, number>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      for (const [, message = ''] of chunk.matchAll(/"msg":"([^"]*)"/g)) counts.set(message, (counts.get(message) ?? 0) + 1)
      output = (output + chunk).slice(-MAX_OUTPUT)
    })
  /** Resolves to the exit code, or null after a signal. */
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const end = (signal: NodeJS.Signals) => {
    child.kill(signal)
    return exited
  }
  /** All lines of its log that contain a text. */
  const countOutput = (text: string) => [...counts].reduce((sum, [message, count]) => sum + (message.includes(text) ? count : 0), 0)
  return {
    process: child,
    pid: child.pid ?? 0,
    /** Port of /metrics and the probes. */
    metricsUrl: `http://127.0.0.1:${metricsPort}`,
    /** The last part of its output. */
    output: () => output,
    countOutput,
    exited,
    end,
  }
}

const CONTAINER = 'operator'
/** A kubelet inspects its processes once per second (PLEG), and then writes the status. */
const NOTICE_MILLISECONDS = 1_000

/** Creates the pod object before its process starts. */
export async function createOperatorPod(admin: KubeHttp, name: string): Promise<Pod> {
  return new Resource(admin, pods).create({
    metadata: { name, labels: { 'app.kubernetes.io/component': 'operator' } },
    spec: {
      serviceAccountName: 'tintype-operator',
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        { name: CONTAINER, image: 'any', securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
      ],
    },
  } as NewObject<Pod>)
}

/** Reports the end of the process, as a kubelet does. `isLost`: the node is lost, so nothing reports any more. */
export async function simulateKubelet(admin: KubeHttp, pod: Pod, program: Program, isLost: () => boolean): Promise<void> {
  const client = new Resource(admin, pods)
  const { name } = pod.metadata
  const write = (phase: string, state: object) =>
    client
      .patch(
        name,
        mergePatch({
          status: { phase, containerStatuses: [{ name: CONTAINER, ready: true, restartCount: 0, image: 'any', imageID: 'any', state }] },
        }),
        { subresource: 'status' },
      )
      .catch(() => undefined)
  const seconds = () => new Date().toISOString().replace(/\.\d+Z/, 'Z')
  await write('Running', { running: { startedAt: seconds() } })
  void program.exited.then(async (exitCode) => {
    await sleep(NOTICE_MILLISECONDS)
    if (!isLost()) await write('Failed', { terminated: { exitCode: exitCode ?? 137, startedAt: seconds(), finishedAt: seconds() } })
  })
}

/** A command for the fleet. An empty one only requests its state. */
export interface FleetOrder {
  captureMilliseconds?: number
  /** True: half of the runners stop responding and their pods cannot be deleted, as if their node was lost. False: the node is back. */
  loseHalf?: boolean
  /** Requests the start times of captures. */
  times?: boolean
}

/** Response of the fleet. */
interface FleetState {
  /** Screenshots whose capture was started. */
  begun: number
  /** Names of Screenshots whose capture was started more than once. */
  repeated: string[]
  /** Time of the first start of each capture in epoch milliseconds, by name, if requested. */
  times: Record<string, number>
  runners: number
  /** Pods on the lost node. */
  lost: string[]
}

/** The process of fleet-program.ts. */
export type Fleet = LineProgram<FleetOrder, FleetState>

/** Starts a process that simulates the runners of all pools. @param network first half of their addresses, in 127.0.0.0/8 */
export async function startFleet(kubeconfigPath: string, namespace: string, network: string): Promise<Fleet> {
  const program = path.join(import.meta.dirname, 'fleet-program.ts')
  const fleet: Fleet = openLines(process.execPath, [program, kubeconfigPath, namespace, network])
  await fleet.hear()
  return fleet
}
