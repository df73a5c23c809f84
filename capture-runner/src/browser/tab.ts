import type { Browser, Page } from 'playwright'
import type { EgressSession } from '../egress/session.ts'
import type { ContextPlan } from '../plan/context.ts'
import type { MediaPlan } from '../plan/media.ts'
import { CaptureError, FrameHungError } from '../runtime/errors.ts'
import { awaitResponse } from '../runtime/race.ts'
import type { DevTools } from './devtools.ts'
import { toEmulatedMedia } from './emulation.ts'
import type { FrameControl, FrameLock } from './frame-control.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { PageEvents } from './page-events.ts'

/** Sends a DevTools command. */
export type Send = DevTools['send']

/**
 * One page in its own context with its own egress session, for one capture. Opened ahead and used once. There are two implementations: plain-tab.ts,
 * and playwright-tab.ts for what only Playwright's pages can do.
 */
export interface Tab {
  readonly browser: Browser
  readonly session: DevTools
  /** Network and lifecycle events. */
  readonly events: PageEvents
  readonly lifecycle: Lifecycle
  readonly egress: EgressSession
  /** Id of the main frame. */
  readonly mainFrame: string
  /** Aborts when the page ends for any reason; the reason is a CaptureError. */
  readonly ended: AbortSignal
  /** Begins the frames of the tab, from the first navigation on; only if the plan has `frameControl`. */
  readonly frames?: FrameControl
  /** Playwright's page; only if the plan has `needsPlaywright`. */
  readonly page?: Page
  /**
   * Evaluates an expression in an isolated world: it can access the page's elements, but the page's scripts cannot access it. The expression must be
   * synchronous, because with JavaScript disabled no timer, frame or promise completes. Otherwise `awaitPromise` returns a promise's value.
   */
  readonly evaluate: <T>(expression: string, signal: AbortSignal, awaitPromise?: boolean) => Promise<T>
  /** Resizes the window, in CSS pixels. */
  readonly resize: (viewport: ContextPlan['viewport']) => Promise<void>
  /**
   * Lays out the page in a window of another height, in CSS pixels, while the visible size stays the same. Without a height, restores the window's own
   * layout. Absent if this version of Playwright does not support it.
   */
  readonly layOut?: (height?: number) => Promise<void>
  /** Sets the emulated media. */
  readonly setMedia: (media: MediaPlan) => Promise<void>
  /** Adds a script that runs before any script of the page, in every frame. */
  readonly addInitScript: (source: string) => Promise<void>
  /** Sessions with the current out-of-process frames; always the same session for the same frame. */
  readonly foreignFrames: () => Promise<DevTools[]>
  /** Closes the page and deletes all that it has stored. May never return. */
  readonly close: () => Promise<void>
}

/** Inputs for opening a tab. */
export interface TabParts {
  browser: Browser
  egress: EgressSession
  /** Emulation settings. */
  plan: ContextPlan
  /** Of the browser. */
  frameLock: FrameLock
}

const WORLD = 'tintype'

/**
 * The isolated world of a frame in which page functions run. A frame has one. Its functions can also access frames of other origins in the same process;
 * no script of the page can use that.
 */
export const createWorld = (session: DevTools, frameId: string) =>
  session.send('Page.createIsolatedWorld', { frameId, worldName: WORLD, grantUniveralAccess: true })

/** Changes the window size and media of a prepared tab. */
export async function adaptTab(tab: Tab, from: ContextPlan, to: ContextPlan): Promise<void> {
  const isSameSize = from.viewport.width === to.viewport.width && from.viewport.height === to.viewport.height
  await Promise.all([isSameSize ? undefined : tab.resize(to.viewport), isSameMedia(from, to) ? undefined : tab.setMedia(to)])
}

const isSameMedia = (a: MediaPlan, b: MediaPlan): boolean => JSON.stringify(toEmulatedMedia(a)) === JSON.stringify(toEmulatedMedia(b))

/** Creates the signal for the end of a page: by a crash, or with its browser. @param lock of the browser */
export function createEnd(lock: FrameLock) {
  const end = new AbortController()
  const hang = () => end.abort(new FrameHungError())
  return {
    signal: end.signal,
    crash: () => end.abort(new CaptureError('PAGE_CRASHED', 'the page crashed or used more memory than a runner has')),
    close: () => (lock.isHung ? hang() : end.abort(new CaptureError('INTERNAL_ERROR', 'the browser ended'))),
    hang,
  }
}

/** Playwright's page of a tab whose plan needs it. */
export function pageOf({ page }: Tab): Page {
  if (!page) throw new Error("the plan did not ask for Playwright's page")
  return page
}

/** Implements {@link Tab.evaluate}. */
export function evaluateIn(session: DevTools, lifecycle: Lifecycle, mainFrame: string): Tab['evaluate'] {
  let world: { document: string | undefined; contextId: number } | undefined
  const worldOf = async (signal: AbortSignal): Promise<number> => {
    const { document } = lifecycle
    if (world && world.document === document) return world.contextId
    const made = await awaitResponse(createWorld(session, mainFrame), signal)
    world = { document, contextId: made.executionContextId }
    return world.contextId
  }
  return async <T>(expression: string, signal: AbortSignal, awaitPromise = false): Promise<T> => {
    const contextId = await worldOf(signal)
    const evaluated = await awaitResponse(
      session.send('Runtime.evaluate', { expression, contextId, returnByValue: true, awaitPromise }),
      signal,
    )
    if (evaluated.exceptionDetails) throw new Error(evaluated.exceptionDetails.exception?.description ?? evaluated.exceptionDetails.text)
    return evaluated.result.value as T
  }
}
