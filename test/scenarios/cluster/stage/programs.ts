import { readFileSync } from 'node:fs'
import { clusterDirectory } from '../../../cluster/host/state.ts'
import { kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { type ProcessState, readCommand, readProcesses } from '../../../support/times/proc.ts'

/** Whose processor time counts as the price: the pods of one release, or of the bare loop. */
export interface Side {
  name: string
  isPod: (pod: Pod) => boolean
  /** False for what does not use the API server. */
  hasControlPlane: boolean
}

export interface Pod {
  uid: string
  namespace: string
  /** Value of the label app.kubernetes.io/component; empty if it has none. */
  component: string
  name: string
}

const CHROMIUM_TYPES: Readonly<Record<string, string>> = {
  '': 'Chromium: browser',
  renderer: 'Chromium: renderers',
  zygote: 'Chromium: renderers',
  'gpu-process': 'Chromium: gpu',
}

/** The order of the programs in tables. */
export const PROGRAMS = [
  'Chromium: renderers',
  'Chromium: browser',
  'Chromium: gpu',
  'Chromium: network',
  'Chromium: other',
  'runner: Node.js',
  'api-gateway',
  'operator',
  'store',
  'kube-apiserver',
  'etcd',
] as const

/** The program of a process in a pod; undefined for helpers such as an init process. @param command its words; Chromium may write all into the first */
export function programInPod(command: readonly string[], component: string): string | undefined {
  const text = command.join(' ')
  const [file = ''] = text.split(' ')
  if (/headless.shell|chrom/.test(file)) return chromiumProgram(text)
  if (component === 'api-gateway' || component === 'operator') return component
  if (component === 'minio' || component === 'versitygw') return 'store'
  return /(?:^|\/)node$/.test(file) ? 'runner: Node.js' : undefined
}

function chromiumProgram(text: string): string {
  const type = /--type=([\w-]+)/.exec(text)?.[1] ?? ''
  return CHROMIUM_TYPES[type] ?? (text.includes('network.mojom') ? 'Chromium: network' : 'Chromium: other')
}

/** The program of a process of the local cluster outside of pods. Tests may run others of the same name. */
export function programOfCluster(command: readonly string[]): string | undefined {
  const name = command[0]?.split('/').at(-1)
  const isOurs = command.some((word) => word.includes(clusterDirectory))
  return isOurs && (name === 'kube-apiserver' || name === 'etcd') ? name : undefined
}

interface PodList {
  items: { metadata: { uid: string; name: string; namespace: string; labels?: Record<string, string> } }[]
}

async function readPods(): Promise<Pod[]> {
  const { items } = JSON.parse(await kubectl(['get', 'pods', '--all-namespaces', '-o', 'json'])) as PodList
  return items.map(({ metadata: { uid, name, namespace, labels } }) => ({
    ...{ uid, name, namespace },
    component: labels?.['app.kubernetes.io/component'] ?? '',
  }))
}

/** The uid of a process's pod, from the text of /proc/<pid>/cgroup. */
export const podUidOf = (cgroup: string): string | undefined => /\/pod([\da-f-]{36})/.exec(cgroup)?.[1]

function readCgroup(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return '' // it ended
  }
}

/** Reads the processor time of several sides at the same moment. */
export async function sampleSides(sides: readonly Side[]): Promise<ReadonlyMap<Side, Sample>> {
  const pods = new Map((await readPods()).map((pod) => [pod.uid, pod]))
  const processes = new Map(sides.map((side) => [side, [] as ProgramProcess[]]))
  for (const state of readProcesses()) {
    const command = readCommand(state.pid)
    const pod = pods.get(podUidOf(readCgroup(state.pid)) ?? '')
    const program = pod ? programInPod(command, pod.component) : programOfCluster(command)
    if (program === undefined) continue
    const type = /--type=([\w-]+)/.exec(command.join(' '))?.[1]
    const process = { state, program, isZygote: type === 'zygote', isRenderer: type === 'renderer' }
    for (const side of sides) if (pod ? side.isPod(pod) : side.hasControlPlane) processes.get(side)?.push(process)
  }
  return new Map([...processes].map(([side, all]) => [side, takeSample(all)]))
}

/** A process of a program, with the program's name. */
export interface ProgramProcess {
  state: ProcessState
  program: string
  /** Chromium forks its renderers from processes of this kind. */
  isZygote: boolean
  isRenderer: boolean
}

/** Processor seconds so far, by program and process. */
export type Sample = ReadonlyMap<string, { program: string; seconds: number }>

/** Processor seconds by program. */
export type Growth = Readonly<Record<string, number>>

/**
 * Adds up the processes of a moment. A renderer ends with its page, and its zygote then has its time. So a zygote and all its renderers count as one
 * process.
 */
export function takeSample(processes: readonly ProgramProcess[]): Sample {
  const byPid = new Map(processes.map((process) => [process.state.pid, process]))
  const firstOf = (process: ProgramProcess): ProgramProcess => {
    const parent = byPid.get(process.state.parent)
    return parent?.isZygote && (process.isZygote || process.isRenderer) ? firstOf(parent) : process
  }
  const sample = new Map<string, { program: string; seconds: number }>()
  for (const process of processes) {
    const { state, program, isZygote, isRenderer } = process
    const first = firstOf(process).state
    const key = `${first.pid} ${first.started}`
    const seconds = state.used + (isZygote || isRenderer ? state.usedByChildren : 0)
    sample.set(key, { program: sample.get(key)?.program ?? program, seconds: (sample.get(key)?.seconds ?? 0) + seconds })
  }
  return sample
}

/** The difference between two samples, by program. What ended since the first one does not count. */
export function growthOf(before: Sample, after: Sample): Growth {
  const growth: Record<string, number> = {}
  for (const [key, { program, seconds }] of after) growth[program] = (growth[program] ?? 0) + seconds - (before.get(key)?.seconds ?? 0)
  return growth
}

/** Milliseconds of one picture by program, without what the programs use when nothing is captured. @param idle growth of one second */
export const priceOf = (growth: Growth, { seconds, pictures, idle }: { seconds: number; pictures: number; idle: Growth }): Growth =>
  Object.fromEntries(
    Object.entries(growth).map(([program, used]) => [program, ((used - (idle[program] ?? 0) * seconds) * 1_000) / pictures]),
  )
