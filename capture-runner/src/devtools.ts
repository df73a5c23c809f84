import type { CDPSession } from 'playwright-core'

/** A session of DevTools, as far as it is used here. */
export type DevTools = Pick<CDPSession, 'send' | 'on' | 'detach'>

/** What Playwright keeps behind its interface: the way from an object to what does its work, there for Playwright's own tests. */
interface Inside {
  _connection?: { toImpl?: (object: unknown) => unknown }
}

/** What does the work of one of Playwright's objects; undefined where a version of Playwright has no such way. */
export const workerOf = (object: unknown): unknown => (object as Inside)._connection?.toImpl?.(object)

/**
 * The same session without Playwright's way there and back, on which each command is checked, queued and answered twice: four times the processor
 * time and three times the wait, a dozen times in each capture (ADR 20). The session itself where it cannot be found.
 */
export function directly(session: CDPSession): DevTools {
  const inner = (workerOf(session) as { _session?: Pick<DevTools, 'send' | 'on'> } | undefined)?._session
  if (typeof inner?.send !== 'function' || typeof inner.on !== 'function') return session
  const { send, on } = inner
  return { send: send.bind(inner) as DevTools['send'], on: on.bind(inner) as DevTools['on'], detach: () => session.detach() }
}
