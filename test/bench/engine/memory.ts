import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { treeOf } from '../../../capture-runner/src/runtime/processes.ts'

const LOOK_MILLISECONDS = 50
const MEBIBYTE = 2 ** 20

/** Proportional set size of a process in bytes. 0 for one that has just ended. */
function proportionalBytes(pid: number): number {
  try {
    const [, kibibytes = '0'] = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kibibytes) * 1_024
  } catch {
    return 0
  }
}

/** MiB of a runner and its children: the current and the standby browser. */
export function memoryOfRunner(pid: number): { runner: number; all: number } {
  const all = treeOf(pid).reduce((sum, process) => sum + proportionalBytes(process), 0)
  return { runner: proportionalBytes(pid) / MEBIBYTE, all: all / MEBIBYTE }
}

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
