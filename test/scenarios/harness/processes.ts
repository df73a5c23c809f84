import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { listProcesses, treeOf } from '../../../capture-runner/src/runtime/processes.ts'
import { readProcesses } from '../../support/times/proc.ts'

// Processor time and memory of processes.

const LOOK_MILLISECONDS = 50

/** Process ids by program. */
export type Processes = Readonly<Record<string, readonly number[]>>

/** Processor milliseconds that programs have used so far. @throws if a process has ended, because its time is lost */
export function readProcessor<Program extends string>(processes: Readonly<Record<Program, readonly number[]>>): Record<Program, number> {
  const used = new Map(readProcesses().map((state) => [state.pid, state.used * 1_000]))
  const sumOf = (pids: readonly number[]) => pids.reduce((sum, pid) => sum + (used.get(pid) ?? Number.NaN), 0)
  const all = Object.entries<readonly number[]>(processes).map(([name, pids]) => [name, sumOf(pids)] as const)
  const ended = all.filter(([, milliseconds]) => Number.isNaN(milliseconds)).map(([name]) => name)
  if (ended.length > 0) throw new Error(`a process has ended: ${ended.join(', ')}`)
  return Object.fromEntries(all) as Record<Program, number>
}

/** Processor milliseconds of each program while `act` runs. */
export async function countProcessor<Program extends string, T>(
  processes: Readonly<Record<Program, readonly number[]>>,
  act: () => Promise<T>,
): Promise<{ result: T; used: Record<Program, number> }> {
  const before = readProcessor(processes)
  const result = await act()
  const after = readProcessor(processes)
  const used = Object.fromEntries((Object.keys(after) as Program[]).map((name) => [name, after[name] - before[name]]))
  return { result, used: used as Record<Program, number> }
}

/** Seconds of processor time used by programs, all their descendants, and those of them that have ended. */
export function processorSeconds(pids: readonly number[]): number {
  const processes = readProcesses()
  const used = new Map(processes.map((state) => [state.pid, state.used + state.usedByChildren]))
  return pids.flatMap((pid) => treeOf(pid, processes)).reduce((sum, pid) => sum + (used.get(pid) ?? 0), 0)
}

/**
 * The same for programs whose children may be killed. Their processor time is lost with them, so the result is NaN if a child has exited
 * since the last call.
 */
export function createProcessorClock(): (pids: readonly number[]) => number {
  let before: number[] = []
  return (pids) => {
    const now = listProcesses()
    const isWhole = before.every((pid) => now.some((process) => process.pid === pid))
    before = now.filter(({ parent }) => pids.includes(parent)).map(({ pid }) => pid)
    return isWhole ? processorSeconds(pids) : Number.NaN
  }
}

/** Seconds of processor time of exited children of this process. */
export const endedProcessorSeconds = (): number => readProcesses().find(({ pid }) => pid === process.pid)?.usedByChildren ?? Number.NaN

/** The process of a daemon, from its record in `<directory>/daemons`. */
export function daemonOf(directory: string, name: string): number {
  const records = path.join(directory, 'daemons')
  const file = readdirSync(records).find((record) => path.parse(record).name === name)
  if (file === undefined) throw new Error(`there is no record of ${name} in ${records}`)
  return (JSON.parse(readFileSync(path.join(records, file), 'utf8')) as { pid: number }).pid
}

/** Resident memory of a process, and its highest value, in MiB. */
export function readMemory(pid: number): { residentMebibytes: number; peakMebibytes: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024
  return { residentMebibytes: mebibytes('VmRSS'), peakMebibytes: mebibytes('VmHWM') }
}

/** Proportional set size of a process in MiB. 0 for one that has just ended. */
function proportionalMebibytes(pid: number): number {
  try {
    const [, kibibytes = '0'] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kibibytes) / 1_024
  } catch {
    return 0
  }
}

/** MiB of a runner, and with its children: the current and the standby browser. */
export const memoryOfRunner = (pid: number): { runner: number; all: number } => ({
  runner: proportionalMebibytes(pid),
  all: treeOf(pid).reduce((sum, process) => sum + proportionalMebibytes(process), 0),
})

/** Measures continuously while `act` runs, and resolves to the maximum. */
export async function peakOf<T>(pid: number, act: () => Promise<T>): Promise<{ result: T; peak: { runner: number; all: number } }> {
  const peak = { runner: 0, all: 0 }
  const end = new AbortController()
  const look = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const now = memoryOfRunner(pid)
      peak.runner = Math.max(peak.runner, now.runner)
      peak.all = Math.max(peak.all, now.all)
      await sleep(LOOK_MILLISECONDS)
    }
  }
  const looking = look()
  try {
    return { result: await act(), peak }
  } finally {
    end.abort()
    await looking
  }
}
