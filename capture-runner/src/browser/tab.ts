import type { Browser, Page } from 'playwright-core'
import type { EgressSession } from '../egress/session.ts'
import type { ContextPlan } from '../plan/context.ts'
import type { MediaPlan } from '../plan/media.ts'
import { CaptureError } from '../runtime/errors.ts'
import { answered } from '../runtime/race.ts'
import type { DevTools } from './devtools.ts'
import { toEmulatedMedia } from './emulation.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { PageEvents } from './page-events.ts'

/** DevTools commands of a page, each answered with a signal. */
export type Send = DevTools['send']

/**
 * One page in a context of its own, with its own way out: what a capture works on. Made ahead, used once. There are two makes: plain-tab.ts, and
 * playwright-tab.ts for what only Playwright's pages can do.
 */
export interface Tab {
  readonly browser: Browser
  readonly session: DevTools
  /** What its network and lifecycle tell. */
  readonly events: PageEvents
  readonly lifecycle: Lifecycle
  readonly exit: EgressSession
  /** Id of the main frame. */
  readonly mainFrame: string
  /** Ends with the page, whatever ends it; the reason is a CaptureError. */
  readonly ended: AbortSignal
  /** Playwright's page; only where the plan has `needsPlaywright`. */
  readonly page?: Page
  /**
   * Evaluates an expression among the page's elements but out of reach of its scripts, and gives its value. The expression must be synchronous:
   * with JavaScript switched off no timer, frame or promise of a page ever ends. Where it is on, `awaitPromise` gives the value of a promise.
   */
  readonly evaluate: <T>(expression: string, signal: AbortSignal, awaitPromise?: boolean) => Promise<T>
  /** Gives the window another size, CSS pixels. */
  readonly resize: (viewport: ContextPlan['viewport']) => Promise<void>
  /**
   * Has the page laid out in a window of another height, CSS pixels, while what is drawn stays as large as it is; without one, in its own again. Absent:
   * this version of Playwright has no way to it.
   */
  readonly layOut?: (height?: number) => Promise<void>
  /** Has the page laid out for these media. */
  readonly setMedia: (media: MediaPlan) => Promise<void>
  /** Has a script run before any script of the page, in every frame. */
  readonly addInitScript: (source: string) => Promise<void>
  /** Sessions with those frames that another process has now; the same one for the same frame. */
  readonly foreignFrames: () => Promise<DevTools[]>
  /** Closes the page and forgets all that it has stored. May never answer. */
  readonly close: () => Promise<void>
}

/** What a tab is made of. */
export interface TabParts {
  browser: Browser
  exit: EgressSession
  /** What the page is to believe. */
  plan: ContextPlan
}

const WORLD = 'tintype'

/** Brings a prepared tab to another window size and other media. */
export async function adaptTab(tab: Tab, from: ContextPlan, to: ContextPlan): Promise<void> {
  const isSameSize = from.viewport.width === to.viewport.width && from.viewport.height === to.viewport.height
  await Promise.all([isSameSize ? undefined : tab.resize(to.viewport), isSameMedia(from, to) ? undefined : tab.setMedia(to)])
}

const isSameMedia = (a: MediaPlan, b: MediaPlan): boolean => JSON.stringify(toEmulatedMedia(a)) === JSON.stringify(toEmulatedMedia(b))

/** How a page ends: by a crash, or with its browser. */
export function createEnd() {
  const end = new AbortController()
  return {
    signal: end.signal,
    crash: () => end.abort(new CaptureError('PAGE_CRASHED', 'the page crashed or used more memory than a runner has')),
    close: () => end.abort(new CaptureError('INTERNAL_ERROR', 'the browser ended')),
  }
}

/** Playwright's page of a tab whose plan needs it. */
export function pageOf({ page }: Tab): Page {
  if (!page) throw new Error("the plan did not ask for Playwright's page")
  return page
}

/** See {@link Tab.evaluate}. */
export function evaluateIn(session: DevTools, lifecycle: Lifecycle, mainFrame: string): Tab['evaluate'] {
  let world: { document: string | undefined; contextId: number } | undefined
  const worldOf = async (signal: AbortSignal): Promise<number> => {
    const { document } = lifecycle
    if (world && world.document === document) return world.contextId
    const made = await answered(session.send('Page.createIsolatedWorld', { frameId: mainFrame, worldName: WORLD }), signal)
    world = { document, contextId: made.executionContextId }
    return world.contextId
  }
  return async <T>(expression: string, signal: AbortSignal, awaitPromise = false): Promise<T> => {
    const contextId = await worldOf(signal)
    const evaluated = await answered(session.send('Runtime.evaluate', { expression, contextId, returnByValue: true, awaitPromise }), signal)
    if (evaluated.exceptionDetails) throw new Error(evaluated.exceptionDetails.exception?.description ?? evaluated.exceptionDetails.text)
    return evaluated.result.value as T
  }
}
