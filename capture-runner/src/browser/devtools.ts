import type { CDPSession } from 'playwright-core'

/** A session of DevTools, as far as it is used here. */
export type DevTools = Pick<CDPSession, 'send' | 'on'>

/** What Playwright keeps behind its interface: the way from an object to what does its work, there for Playwright's own tests. */
interface Inside {
  _connection?: { toImpl?: (object: unknown) => unknown }
}

/** What does the work of a session; others can be below it, whose messages come on the same connection. */
interface InnerSession extends DevTools {
  createChildSession: (sessionId: string) => InnerSession
  disposeChildSession: (sessionId: string) => void
}

/** What does the work of one of Playwright's objects; undefined where a version of Playwright has no such way. */
export const workerOf = (object: unknown): unknown => (object as Inside)._connection?.toImpl?.(object)

function innerOf(session: CDPSession): DevTools | undefined {
  const inner = (workerOf(session) as { _session?: DevTools } | undefined)?._session
  return typeof inner?.send === 'function' && typeof inner.on === 'function' ? inner : undefined
}

const boundTo = (inner: DevTools): DevTools => ({
  send: inner.send.bind(inner) as DevTools['send'],
  on: inner.on.bind(inner) as DevTools['on'],
})

/**
 * The same session without Playwright's way there and back, on which each command is checked, queued and answered twice: four times the processor
 * time and three times the wait, a dozen times in each capture (ADR 20). The session itself where it cannot be found.
 */
export function directly(session: CDPSession): DevTools {
  const inner = innerOf(session)
  return inner ? boundTo(inner) : session
}

/** A session below which there are others: of a browser its pages, of a page those of its frames that another process has. */
export interface ParentSession extends DevTools {
  /** The session below it of that id, to which the browser was told to attach. @param onGone called once, when what it is a session with has gone */
  child: (sessionId: string, onGone: () => void) => ParentSession
}

/** A session that can have others below it (ADR 24); undefined where a version of Playwright has no way to it. */
export function parentOf(session: CDPSession): ParentSession | undefined {
  const inner = innerOf(session)
  return inner && canHaveChildren(inner) ? toParent(inner) : undefined
}

const canHaveChildren = (inner: Partial<InnerSession>): inner is InnerSession =>
  typeof inner.createChildSession === 'function' && typeof inner.disposeChildSession === 'function'

const toParent = (inner: InnerSession): ParentSession => toBranch(inner).session

/** A session, and how all below it end: what was below a session that has gone is not heard of any more. */
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
