import { readFileSync } from 'node:fs'
import { listProcesses, treeOf } from '../../../capture-runner/src/runtime/processes.ts'

/** Kernel clock ticks per second. The value is 100 on every Linux that Node supports. */
const TICKS_A_SECOND = 100
const FIRST = 11

/** Fields 14 to 17 of /proc/<pid>/stat: ticks of the process, and of its children that have exited and were waited for. */
function ticksOf(pid: number | 'self'): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(FIRST, FIRST + 4)
      .map(Number)
  } catch {
    return [] // the process has just exited, and its parent has its ticks
  }
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Seconds of processor time used by programs and all their descendants. */
export function processorSeconds(pids: readonly number[]): number {
  const processes = listProcesses()
  return sum(pids.flatMap((pid) => treeOf(pid, processes)).flatMap(ticksOf)) / TICKS_A_SECOND
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
export const endedProcessorSeconds = (): number => sum(ticksOf('self').slice(2)) / TICKS_A_SECOND
