import type { Logger } from 'pino'
import { argumentsOf, memoryOf, memoryOfGroup, treeOf } from './processes.ts'

// On cgroup v2 a container that passes its limit is killed whole, with the runner and what it knows. So the runner counts for itself and ends the
// page's process in time: the capture fails with PAGE_CRASHED and the pod lives on.

/** Part of the pod's limit at which a renderer is killed. */
const SHARE = 0.8
/** A page allocates about a gigabyte a second at most: in this time it stays within the last fifth. */
const INTERVAL_MILLISECONDS = 100

/** Watches one browser until `end`. */
export interface MemoryWatch {
  watch: (browserPid: number) => { end: () => void }
}

/** @param limitBytes the pod's memory limit; absent: nothing is watched */
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

/** Counts every process of the pod that this one has started, itself included, and kills the browser's largest renderer when it is too much. */
function check(browserPid: number, threshold: number, log: Logger): void {
  // One file instead of two for each process. It counts cached files too, which the kernel gives up by itself: only below the threshold it says enough.
  const charged = memoryOfGroup()
  if (charged !== undefined && charged < threshold) return
  const used = treeOf(process.pid).reduce((sum, pid) => sum + memoryOf(pid), 0)
  if (used < threshold) return
  const renderers = treeOf(browserPid).filter((pid) => argumentsOf(pid).includes('--type=renderer'))
  const largest = renderers.toSorted((a, b) => memoryOf(b) - memoryOf(a))[0]
  if (largest === undefined) return
  log.warn({ usedBytes: used, thresholdBytes: threshold }, 'renderer killed for its memory')
  try {
    process.kill(largest, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
