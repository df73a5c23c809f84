import type { CDPSession } from 'playwright'
import { canHaveChildren, type InnerSession, innerSessionOf, type Session } from './playwright-internals.ts'

/** The part of a DevTools session that the runner uses. */
export type DevTools = Session

const boundTo = (inner: DevTools): DevTools => ({
  send: inner.send.bind(inner) as DevTools['send'],
  on: inner.on.bind(inner) as DevTools['on'],
})

/**
 * The same session without Playwright's dispatcher, which validates, queues and answers each command twice. That costs four times the processor
 * time and three times the latency, a dozen times per capture (ADR 20). Returns the session itself if its implementation is not found.
 */
export function directly(session: CDPSession): DevTools {
  const inner = innerSessionOf(session)
  return inner ? boundTo(inner) : session
}

/** A session with child sessions: a browser's pages, or a page's out-of-process frames. */
export interface ParentSession extends DevTools {
  /** The child session with this id, after the browser has attached to it. @param onDetached called once, when the target is detached */
  child: (sessionId: string, onDetached: () => void) => ParentSession
}

/** A session that can have child sessions (ADR 24); undefined if this version of Playwright does not expose it. */
export function parentOf(session: CDPSession): ParentSession | undefined {
  const inner = innerSessionOf(session)
  return inner && canHaveChildren(inner) ? toParent(inner) : undefined
}

/** A metric of a page; undefined if the browser has none of this name. It answers during a task of the page, too. */
export async function readMetric(session: DevTools, wanted: string): Promise<number | undefined> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)?.value
}

const toParent = (inner: InnerSession): ParentSession => toBranch(inner).session

/** A session, and a function that ends its descendants, because the browser sends no events for children of a detached session. */
interface Branch {
  session: ParentSession
  end: () => void
}

function toBranch(inner: InnerSession): Branch {
  const children = new Map<string, () => void>()
  const lose = (sessionId: string) => {
    const onDetached = children.get(sessionId)
    if (!onDetached) return
    children.delete(sessionId)
    inner.disposeChildSession(sessionId)
    onDetached()
  }
  inner.on('Target.detachedFromTarget', ({ sessionId }) => lose(sessionId))
  const child: ParentSession['child'] = (sessionId, onDetached) => {
    const branch = toBranch(inner.createChildSession(sessionId))
    children.set(sessionId, () => {
      branch.end()
      onDetached()
    })
    return branch.session
  }
  return {
    session: { ...boundTo(inner), child },
    end: () => {
      for (const sessionId of [...children.keys()]) lose(sessionId)
    },
  }
}
