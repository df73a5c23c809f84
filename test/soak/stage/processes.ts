import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseResident } from '../../bench/rest/memory.ts'
import { parseProcessor } from '../../bench/rest/processor.ts'
import { type GatewayPod, type OperatorPod, type Stage, textOf } from './stage.ts'

// Processor time and memory by program, and the metrics of programs.

/** Process ids by program. */
export type Processes = Readonly<Record<string, readonly number[]>>

/** The programs of a stage. This process represents the clients. */
export function processesOf(
  { release, fleet, storeDirectory }: Stage,
  operators: readonly OperatorPod[],
  gateways: readonly GatewayPod[],
): Processes {
  return {
    operator: operators.map(({ pid }) => pid),
    gateway: gateways.map(({ pid }) => pid),
    'API server': [daemonOf(release.plane.directory, 'kube-apiserver')],
    etcd: [daemonOf(release.plane.directory, 'etcd')],
    MinIO: [daemonOf(storeDirectory, 'minio')],
    runners: [fleet.pid],
    clients: [process.pid],
  }
}

function daemonOf(directory: string, name: string): number {
  const records = path.join(directory, 'daemons')
  const file = readdirSync(records).find((record) => path.parse(record).name === name)
  if (file === undefined) throw new Error(`there is no record of ${name} in ${records}`)
  return (JSON.parse(readFileSync(path.join(records, file), 'utf8')) as { pid: number }).pid
}

/** Processor milliseconds used so far, by program. */
export const readProcessor = (processes: Processes): Record<string, number> =>
  Object.fromEntries(
    Object.entries(processes).map(([name, pids]) => [
      name,
      pids.reduce((sum, pid) => sum + parseProcessor(readFileSync(`/proc/${pid}/stat`, 'utf8')), 0),
    ]),
  )

/** Current and peak memory of a process in MiB. */
export const readMemory = (pid: number) => parseResident(readFileSync(`/proc/${pid}/status`, 'utf8'))

/** Sum of a metric's samples whose labels contain all given texts. */
export async function readMetric({ metricsUrl }: { metricsUrl: string }, name: string, ...labels: string[]): Promise<number> {
  let sum = 0
  for (const line of (await textOf(`${metricsUrl}/metrics`)).split('\n')) {
    if (!line.startsWith(`${name}{`) && !line.startsWith(`${name} `)) continue
    if (labels.every((label) => line.includes(label))) sum += Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return sum
}
