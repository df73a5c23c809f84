import type { CDPSession } from 'playwright'

/** The part of a DevTools session that the runner uses. */
export type DevTools = Pick<CDPSession, 'send' | 'on'>

/** Playwright's internal access from an API object to its implementation, which exists for Playwright's own tests. */
interface PlaywrightObject {
  _connection?: { toImpl?: (object: unknown) => unknown }
}

/** Implementation of a session. Child sessions share its connection. */
interface InnerSession extends DevTools {
  createChildSession: (sessionId: string) => InnerSession
  disposeChildSession: (sessionId: string) => void
}

/** The implementation of a Playwright object; undefined if this version of Playwright does not expose it. */
export const implementationOf = (object: unknown): unknown => (object as PlaywrightObject)._connection?.toImpl?.(object)

function innerOf(session: CDPSession): DevTools | undefined {
  const inner = (implementationOf(session) as { _session?: DevTools } | undefined)?._session
  return typeof inner?.send === 'function' && typeof inner.on === 'function' ? inner : undefined
}

const boundTo = (inner: DevTools): DevTools => ({
  send: inner.send.bind(inner) as DevTools['send'],
  on: inner.on.bind(inner) as DevTools['on'],
})

/**
 * The same session without Playwright's dispatcher, which validates, queues and answers each command twice. That costs four times the processor
 * time and three times the latency, a dozen times per capture (ADR 20). Returns the session itself if its implementation is not found.
 */
export function directly(session: CDPSession): DevTools {
  const inner = innerOf(session)
  return inner ? boundTo(inner) : session
}

/** A session with child sessions: a browser's pages, or a page's out-of-process frames. */
export interface ParentSession extends DevTools {
  /** The child session with this id, after the browser has attached to it. @param onGone called once, when the target is gone */
  child: (sessionId: string, onGone: () => void) => ParentSession
}

/** A session that can have child sessions (ADR 24); undefined if this version of Playwright does not expose it. */
export function parentOf(session: CDPSession): ParentSession | undefined {
  const inner = innerOf(session)
  return inner && canHaveChildren(inner) ? toParent(inner) : undefined
}

const canHaveChildren = (inner: Partial<InnerSession>): inner is InnerSession =>
  typeof inner.createChildSession === 'function' && typeof inner.disposeChildSession === 'function'

const toParent = (inner: InnerSession): ParentSession => toBranch(inner).session

/** A session, and a function that ends its descendants, because the browser sends no events for children of a detached session. */
interface Branch {
  session: ParentSession
  end: () => void
}

function toBranch(inner: InnerSession): Branch {
  const children = new Map<string, () => void>()
  const lose = (sessionId: string) => {
    const onGone = children.get(sessionId)
    if (!onGone) return
    children.delete(sessionId)
    inner.disposeChildSession(sessionId)
    onGone()
  }
  inner.on('Target.detachedFromTarget', ({ sessionId }) => lose(sessionId))
  const child: ParentSession['child'] = (sessionId, onGone) => {
    const branch = toBranch(inner.createChildSession(sessionId))
    children.set(sessionId, () => {
      branch.end()
      onGone()
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
