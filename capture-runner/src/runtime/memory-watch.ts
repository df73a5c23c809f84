import { OUT_OF_MEMORY } from '@tintype/crds/dispatch/dispatch'
import type { Logger } from 'pino'
import { CaptureError } from './errors.ts'
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
interface WatchedCapture {
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

// Decides which page ends when the pod is short of memory, and what that means for the captures. Pure functions.

/** A browser of the pod and the memory of its processes. */
export interface BrowserMemory {
  pid: number
  /** Memory of all its processes. */
  bytes: number
  renderers: readonly { pid: number; bytes: number }[]
  /** Captures that use it now. */
  captures: number
  /** False for a standby browser, whose memory no capture has caused. */
  hasCaptured: boolean
}

/** A renderer to kill. */
interface RendererKill {
  renderer: number
  browser: number
  /** True if the pod would be short of memory without the pages of other captures too. */
  isOwnFault: boolean
}

/**
 * Chooses the browser with the most memory, because a page can spread its memory over frames with renderers of their own. Browsers belong to one
 * account, so no account loses a page to a larger one.
 * @returns undefined if the pod has enough memory
 */
export function chooseRenderer(usedBytes: number, thresholdBytes: number, browsers: readonly BrowserMemory[]): RendererKill | undefined {
  if (usedBytes < thresholdBytes) return undefined
  const browser = largestOf(browsers.filter(({ renderers }) => renderers.length > 0))
  const renderer = largestOf(browser?.renderers ?? [])
  if (!browser || !renderer) return undefined
  const others = browsers.filter((other) => other !== browser && other.hasCaptured).reduce((sum, { bytes }) => sum + bytes, 0)
  return {
    renderer: renderer.pid,
    browser: browser.pid,
    isOwnFault: browser.captures <= 1 && usedBytes - others >= thresholdBytes,
  }
}

const largestOf = <T extends { bytes: number }>(all: readonly T[]): T | undefined => all.toSorted((a, b) => b.bytes - a.bytes)[0]

/** What happened to the processes of a capture's browser while it ran. */
interface Shortage {
  /** The memory watch killed a renderer of its browser: was it this capture's own fault? Absent: it killed none. */
  isOwnFault?: boolean
  /** The kernel killed a process of the container. */
  hasKernelKilled: boolean
  thresholdBytes: number
}

/** Errors by which the loss of a process can show. */
const BY_LOSS: readonly string[] = ['PAGE_CRASHED', 'NAVIGATION_FAILED', 'INTERNAL_ERROR']
const MEBIBYTE = 1024 ** 2

/**
 * Explains the error of a capture by a shortage of memory. A page that was ended for the memory of another capture is not to blame, and neither is one
 * whose process the kernel chose: such an attempt is given up, and the operator starts another one.
 */
export function explainByMemory(error: unknown, { isOwnFault, hasKernelKilled, thresholdBytes }: Shortage): unknown {
  if (isOwnFault) {
    const limit = Math.floor(thresholdBytes / MEBIBYTE)
    return new CaptureError('PAGE_CRASHED', `the page used too much memory: page, browser and runner may use ${limit} MiB`, {
      cause: error,
    })
  }
  if (isOwnFault === false) {
    return new CaptureError('INTERNAL_ERROR', 'the runner ran out of memory, and other captures used most of it', {
      cause: error,
      givenUpAs: OUT_OF_MEMORY,
    })
  }
  if (!hasKernelKilled || (error instanceof CaptureError && !BY_LOSS.includes(error.code))) return error
  return new CaptureError('PAGE_CRASHED', 'the system ended the page or its browser, because the runner was out of memory', {
    cause: error,
    givenUpAs: OUT_OF_MEMORY,
  })
}
