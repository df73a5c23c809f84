import type { Logger } from 'pino'
import { type BrowserMemory, chooseRenderer, explainByMemory } from './memory-shortage.ts'
import { argumentsOf, listProcesses, memoryOf, memoryOfGroup, oomKillCountOfGroup, treeOf } from './processes.ts'

// With cgroup v2, the kernel kills the whole container at its memory limit, runner included. So the runner checks memory itself and kills the largest
// page's process before that. The pod continues (ADR 63).

/** Share of the pod's limit at which a renderer is killed. */
const SHARE = 0.8
/** A page allocates at most about a gigabyte per second, so within one interval it stays below the limit. */
const INTERVAL_MILLISECONDS = 100

/** Watches the memory of the pod while captures run. */
export interface MemoryWatch {
  /** Watches until the browser of the capture has closed its page. */
  watch: (browserPid: number) => WatchedCapture
}

/** A capture, from the lending of its tab until the tab is closed. */
export interface WatchedCapture {
  /** Returns the error to report for one that the capture failed with. */
  explain: (error: unknown) => unknown
  end: () => void
}

/** State of a watched capture. */
interface Watched {
  browserPid: number
  isOwnFault?: boolean
}

/** @param limitBytes the pod's memory limit; absent: no check, but kills by the kernel are still noticed */
export function createMemoryWatch({ limitBytes, log }: { limitBytes: number | undefined; log: Logger }): MemoryWatch {
  const thresholdBytes = limitBytes === undefined ? Number.POSITIVE_INFINITY : limitBytes * SHARE
  const watched = new Set<Watched>()
  /** Browsers that have captured, which may still have pages. */
  const captured = new Set<number>()
  let timer: NodeJS.Timeout | undefined

  const check = (): void => {
    // One file instead of two per process. It includes the page cache, which the kernel can free, so it is conclusive only below the threshold.
    const charged = memoryOfGroup()
    if (charged !== undefined && charged < thresholdBytes) return
    const { usedBytes, browsers } = measure(watched, captured)
    const kill = chooseRenderer(usedBytes, thresholdBytes, browsers)
    if (!kill) return
    const { isOwnFault } = kill
    // The first kill explains a failure. Before the kill, because the capture may fail at once.
    for (const one of watched) if (one.browserPid === kill.browser) one.isOwnFault ??= isOwnFault
    log.warn({ usedBytes, thresholdBytes, isOwnFault }, 'renderer killed: memory limit')
    killProcess(kill.renderer)
  }

  return {
    watch: (browserPid) => {
      const own: Watched = { browserPid }
      const countBefore = oomKillCountOfGroup()
      watched.add(own)
      captured.add(browserPid)
      if (limitBytes !== undefined) timer ??= setInterval(check, INTERVAL_MILLISECONDS)
      return {
        explain: (error) => explainByMemory(error, { ...own, hasKernelKilled: oomKillCountOfGroup() > countBefore, thresholdBytes }),
        end: () => {
          watched.delete(own)
          if (watched.size > 0) return
          clearInterval(timer)
          timer = undefined
        },
      }
    },
  }
}

/** Adds up the memory of this process and its descendants. Each browser is a child of this process. */
function measure(watched: ReadonlySet<Watched>, captured: Set<number>): { usedBytes: number; browsers: BrowserMemory[] } {
  const processes = listProcesses()
  const children = processes.filter(({ parent }) => parent === process.pid).map(({ pid }) => pid)
  for (const pid of captured) if (!children.includes(pid)) captured.delete(pid)
  const trees = children.map((pid) => ({
    pid,
    members: treeOf(pid, processes).map((member) => ({ pid: member, bytes: memoryOf(member) })),
  }))
  const browsers = trees.map(({ pid, members }) => ({
    pid,
    bytes: members.reduce((sum, { bytes }) => sum + bytes, 0),
    renderers: members.filter((member) => argumentsOf(member.pid).includes('--type=renderer')),
    captures: watched.values().reduce((count, { browserPid }) => count + (browserPid === pid ? 1 : 0), 0),
    hasCaptured: captured.has(pid),
  }))
  return { usedBytes: browsers.reduce((sum, { bytes }) => sum + bytes, memoryOf(process.pid)), browsers }
}

function killProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
