import type { BrowserContext, Page } from 'playwright-core'
import { type DevTools, directly } from './devtools.ts'
import type { EgressSession } from './egress/session.ts'
import { applyEmulation, emulateMedia } from './emulation.ts'
import { CaptureError } from './errors.ts'
import { Lifecycle } from './lifecycle.ts'
import { listenAlong, type PageEvents } from './page-events.ts'
import type { ContextPlan } from './plan.ts'
import { answered } from './race.ts'

/** DevTools commands of a page, each answered with a signal. */
export type Send = DevTools['send']

/** One page in a context of its own, with its own way out: what a capture works on. Made ahead, used once. */
export interface Tab {
  readonly context: BrowserContext
  readonly page: Page
  readonly session: DevTools
  /** What its network and lifecycle tell. */
  readonly events: PageEvents
  readonly lifecycle: Lifecycle
  readonly exit: EgressSession
  /** Id of the main frame. */
  readonly mainFrame: string
  /** Ends with the page, whatever ends it; the reason is a CaptureError. */
  readonly ended: AbortSignal
  /**
   * Evaluates an expression among the page's elements but out of reach of its scripts, and gives its value. The expression must be synchronous:
   * with JavaScript switched off no timer, frame or promise of a page ever ends.
   */
  look: <T>(expression: string, signal: AbortSignal) => Promise<T>
}

/** What a tab is made of. */
export interface TabParts {
  context: BrowserContext
  exit: EgressSession
  /** The browser's version, `156.0.8078.79`. */
  version: string
  /** What the page is to believe. */
  plan: ContextPlan
}

const WORLD = 'tintype'

/** Makes the page of a new context, and everything that a capture would otherwise wait for. */
export async function openTab({ context, exit, version, plan }: TabParts): Promise<Tab> {
  const page = await context.newPage()
  // After our own page: what else opens is a popup.
  context.on('page', (popup) => void popup.close().catch(() => {}))
  const end = new AbortController()
  page.once('crash', () => end.abort(new CaptureError('PAGE_CRASHED', 'the page crashed or used more memory than a runner has')))
  page.once('close', () => end.abort(new CaptureError('INTERNAL_ERROR', 'the browser ended')))
  const session = directly(await context.newCDPSession(page))
  const [{ frameTree }, events] = await Promise.all([
    session.send('Page.getFrameTree'),
    listenAlong(page, session),
    applyEmulation(session, page, version, plan),
  ])
  const mainFrame = frameTree.frame.id
  const lifecycle = new Lifecycle(events, mainFrame)
  return { context, page, session, events, lifecycle, exit, mainFrame, ended: end.signal, look: lookIn(session, lifecycle, mainFrame) }
}

/** Brings a prepared tab to another window size and other media. */
export async function adaptTab({ page, session }: Tab, from: ContextPlan, to: ContextPlan): Promise<void> {
  const isSameSize = from.viewport.width === to.viewport.width && from.viewport.height === to.viewport.height
  await Promise.all([isSameSize ? undefined : page.setViewportSize(to.viewport), emulateMedia(session, page, to, from)])
}

function lookIn(session: DevTools, lifecycle: Lifecycle, mainFrame: string): Tab['look'] {
  let world: { document: string | undefined; contextId: number } | undefined
  const worldOf = async (signal: AbortSignal): Promise<number> => {
    const { document } = lifecycle
    if (world && world.document === document) return world.contextId
    const made = await answered(session.send('Page.createIsolatedWorld', { frameId: mainFrame, worldName: WORLD }), signal)
    world = { document, contextId: made.executionContextId }
    return world.contextId
  }
  return async <T>(expression: string, signal: AbortSignal): Promise<T> => {
    const contextId = await worldOf(signal)
    const evaluated = await answered(session.send('Runtime.evaluate', { expression, contextId, returnByValue: true }), signal)
    if (evaluated.exceptionDetails) throw new Error(evaluated.exceptionDetails.exception?.description ?? evaluated.exceptionDetails.text)
    return evaluated.result.value as T
  }
}
