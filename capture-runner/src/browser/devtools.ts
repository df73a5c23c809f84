import type { CDPSession } from 'playwright'

/** The part of a DevTools session that the runner uses. */
export type DevTools = Pick<CDPSession, 'send' | 'on'>

/** The events of a session. */
export type PageEvents = Pick<DevTools, 'on'>

/** A session with child sessions: a browser's pages, or a page's out-of-process frames. */
export interface ParentSession extends DevTools {
  /** The child session with this id, after the browser has attached to it. @param onDetached called once, when the target is detached */
  child: (sessionId: string, onDetached: () => void) => ParentSession
}

/** Playwright's implementation of a session. Child sessions share its connection. */
interface InnerSession extends DevTools {
  createChildSession: (sessionId: string) => InnerSession
  disposeChildSession: (sessionId: string) => void
}

/** A session of Playwright's API, with the access to its implementation that exists for Playwright's own tests. */
interface OuterSession {
  _connection?: { toImpl?: (session: unknown) => { _session?: Partial<InnerSession> } | undefined }
}

/**
 * The same session without Playwright's dispatcher, which validates, queues and answers each command twice (ADR 20), and which has no child sessions.
 * All private names of Playwright are here.
 * @throws if this version of Playwright does not expose it
 */
export function parentOf(session: CDPSession): ParentSession {
  const inner = (session as CDPSession & OuterSession)._connection?.toImpl?.(session)?._session
  if (!inner || !canHaveChildren(inner)) throw new Error('this version of Playwright does not expose its sessions')
  return toBranch(inner).session
}

const canHaveChildren = (inner: Partial<InnerSession>): inner is InnerSession =>
  [inner.send, inner.on, inner.createChildSession, inner.disposeChildSession].every((method) => typeof method === 'function')

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
    session: { send: inner.send.bind(inner) as DevTools['send'], on: inner.on.bind(inner) as DevTools['on'], child },
    end: () => {
      for (const sessionId of [...children.keys()]) lose(sessionId)
    },
  }
}

/** Enables the events of a page: of its frames and its network. */
export async function enablePageEvents(session: DevTools): Promise<void> {
  await Promise.all([
    session.send('Page.enable'),
    session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
    enableNetwork(session),
  ])
}

/** Enables the network events of a page's, frame's or worker's session. */
export const enableNetwork = (session: DevTools) => session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 })

/** Bypasses service workers for all requests of the page. */
export const bypassServiceWorkers = (session: DevTools) => session.send('Network.setBypassServiceWorker', { bypass: true })

/**
 * Makes the browser measure script time from the page's first script on. It must be enabled before the page opens, because a page in another process
 * inherits it. Otherwise that page would look like one without scripts.
 */
export const countScripts = (session: DevTools) => session.send('Performance.enable')

/** A metric of a page; undefined if the browser has none of this name. It answers during a task of the page, too. */
export async function readMetric(session: DevTools, wanted: string): Promise<number | undefined> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === wanted)?.value
}
