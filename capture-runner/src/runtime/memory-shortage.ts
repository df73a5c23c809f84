import { OUT_OF_MEMORY } from '@tintype/crds/dispatch/dispatch'
import { CaptureError } from './errors.ts'

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
export interface RendererKill {
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
export interface Shortage {
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
