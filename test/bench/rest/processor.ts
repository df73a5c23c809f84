import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { World } from '../../integration/api-gateway/world.ts'

/** Processor milliseconds by program. */
export type ProcessorUse = Readonly<Record<Part, number>>
export const PARTS = ['clients', 'gateways', 'API server', 'etcd'] as const
type Part = (typeof PARTS)[number]

/** Process ids by program. */
export type Processes = Readonly<Record<Part, readonly number[]>>

/** Linux reports hundredths of a second on every machine. */
const TICK_MILLISECONDS = 10

/** Reads utime and stime of /proc/<pid>/stat. The process name before them may contain blanks and brackets. */
export function parseProcessor(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MILLISECONDS
}

/** The processes of a test's control plane, from their state files. */
export function findDaemon({ plane }: { plane: Pick<World['plane'], 'kubeconfigPath'> }, name: string): number {
  const records = path.join(path.dirname(plane.kubeconfigPath), 'daemons')
  const file = readdirSync(records).find((record) => path.parse(record).name === name)
  if (file === undefined) throw new Error(`there is no record of ${name} in ${records}`)
  return (JSON.parse(readFileSync(path.join(records, file), 'utf8')) as { pid: number }).pid
}

/** Processor milliseconds of processes since their start. */
export const readProcessor = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => sum + parseProcessor(readFileSync(`/proc/${pid}/stat`, 'utf8')), 0)

const readAll = (processes: Processes): ProcessorUse =>
  Object.fromEntries(PARTS.map((part) => [part, readProcessor(processes[part])])) as Record<Part, number>

/** Processor time of each program while `act` ran, divided by the number of results. */
export async function countProcessor<T>(
  processes: Processes,
  items: number,
  act: () => Promise<T>,
): Promise<{ result: T; processor: ProcessorUse }> {
  const before = readAll(processes)
  const result = await act()
  const after = readAll(processes)
  const each = PARTS.map((part) => [part, (after[part] - before[part]) / items] as const)
  return { result, processor: Object.fromEntries(each) as Record<Part, number> }
}

/** Sum of all programs. */
export const totalOf = (use: ProcessorUse): number => PARTS.reduce((sum, part) => sum + use[part], 0)
