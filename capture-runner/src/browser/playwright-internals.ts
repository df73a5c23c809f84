import type { BrowserContext, CDPSession, Page } from 'playwright'

// All private names of Playwright that the runner uses. Each function returns undefined if a version of Playwright lacks its names, and the caller then
// uses a slower way. Tests fail if the installed version lacks one: ADR 18, 20 and 24 say what it saves.

/** The part of a session that the runner uses. */
export type Session = Pick<CDPSession, 'send' | 'on'>

/** The access from an API object to its implementation, which exists for Playwright's own tests. */
interface PlaywrightObject {
  _connection?: { toImpl?: (object: unknown) => unknown }
}

interface PageImplementation {
  delegate?: { _mainFrameSession?: { _client?: Session; _workerSessions?: Map<string, Pick<Session, 'on'>> } }
}

/** Implementation of a session. Child sessions share its connection. */
export interface InnerSession extends Session {
  createChildSession: (sessionId: string) => InnerSession
  disposeChildSession: (sessionId: string) => void
}

const implementationOf = <T>(object: unknown): Partial<T> | undefined =>
  (object as PlaywrightObject)._connection?.toImpl?.(object) as Partial<T> | undefined

/** The implementation of a session, without the dispatcher before it. */
export function innerSessionOf(session: CDPSession): Session | undefined {
  const inner = implementationOf<{ _session: Session }>(session)?._session
  return typeof inner?.send === 'function' && typeof inner.on === 'function' ? inner : undefined
}

export const canHaveChildren = (inner: Partial<InnerSession>): inner is InnerSession =>
  typeof inner.createChildSession === 'function' && typeof inner.disposeChildSession === 'function'

/** Playwright's own session with a page. */
export function pageSessionOf(page: Page): Session | undefined {
  const session = implementationOf<PageImplementation>(page)?.delegate?._mainFrameSession?._client
  return typeof session?.on === 'function' ? session : undefined
}

/** Calls back with each later child session of a session, and with their children, before Playwright sends them a command. */
export function followChildren(session: Partial<InnerSession>, onChild: (child: Session) => void): void {
  if (!canHaveChildren(session)) return
  const create = session.createChildSession.bind(session)
  session.createChildSession = (...values) => {
    const child = create(...values)
    onChild(child)
    followChildren(child, onChild)
    return child
  }
}

/** Playwright's own sessions with the workers of a page, by session id. */
export const workerSessionsOf = (page: Page): ReadonlyMap<string, Pick<Session, 'on'>> | undefined =>
  implementationOf<PageImplementation>(page)?.delegate?._mainFrameSession?._workerSessions

/** The id of a context in DevTools. */
export const browserContextIdOf = (context: BrowserContext): string | undefined =>
  implementationOf<{ _browserContextId: string }>(context)?._browserContextId
