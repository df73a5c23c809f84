import { readFileSync } from 'node:fs'
import { listProcesses, treeOf } from '../../../capture-runner/src/runtime/processes.ts'

/** Ticks of the kernel's clock in a second, on every Linux that node runs on. */
const TICKS_A_SECOND = 100
const FIRST = 11

/** Fields 14 to 17 of /proc/<pid>/stat: a process's own ticks, and those of its children that have ended and were waited for. */
function ticksOf(pid: number | 'self'): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(FIRST, FIRST + 4)
      .map(Number)
  } catch {
    return [] // it has just gone, and its parent has its ticks
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Seconds of processor time that programs and all that they started have used so far. */
export function processorSeconds(pids: readonly number[]): number {
  const processes = listProcesses()
  return sum(pids.flatMap((pid) => treeOf(pid, processes)).flatMap(ticksOf)) / TICKS_A_SECOND
}

/**
 * The same for programs whose children may be killed, because the processor time of a killed browser's processes is lost. NaN when a child has
 * ended since the last call.
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

/** Seconds of processor time of our children that have ended. */
export const endedProcessorSeconds = (): number => sum(ticksOf('self').slice(2)) / TICKS_A_SECOND
