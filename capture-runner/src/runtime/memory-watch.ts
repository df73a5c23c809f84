import type { Logger } from 'pino'
import { argumentsOf, memoryOf, memoryOfGroup, treeOf } from './processes.ts'

// With cgroup v2, the kernel kills the whole container at its memory limit, runner included. So the runner checks memory itself and kills the page's
// process before that. The capture fails with PAGE_CRASHED, and the pod continues.

/** Share of the pod's limit at which a renderer is killed. */
const SHARE = 0.8
/** A page allocates at most about a gigabyte per second, so within one interval it stays below the limit. */
const INTERVAL_MILLISECONDS = 100

/** Watches the memory of one browser until `end`. */
export interface MemoryWatch {
  watch: (browserPid: number) => { end: () => void }
}

/** @param limitBytes the pod's memory limit; absent: no check */
export function createMemoryWatch({ limitBytes, log }: { limitBytes: number | undefined; log: Logger }): MemoryWatch {
  if (limitBytes === undefined) return { watch: () => ({ end: () => {} }) }
  const threshold = limitBytes * SHARE
  return {
    watch: (browserPid) => {
      const timer = setInterval(() => check(browserPid, threshold, log), INTERVAL_MILLISECONDS)
      return { end: () => clearInterval(timer) }
    },
  }
}

/** Adds up the memory of this process and its descendants. Over the threshold, kills the browser's largest renderer. */
function check(browserPid: number, threshold: number, log: Logger): void {
  // One file instead of two per process. It includes the page cache, which the kernel can free, so it is conclusive only below the threshold.
  const charged = memoryOfGroup()
  if (charged !== undefined && charged < threshold) return
  const used = treeOf(process.pid).reduce((sum, pid) => sum + memoryOf(pid), 0)
  if (used < threshold) return
  const renderers = treeOf(browserPid).filter((pid) => argumentsOf(pid).includes('--type=renderer'))
  const largest = renderers.toSorted((a, b) => memoryOf(b) - memoryOf(a))[0]
  if (largest === undefined) return
  log.warn({ usedBytes: used, thresholdBytes: threshold }, 'renderer killed: memory limit')
  try {
    process.kill(largest, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
