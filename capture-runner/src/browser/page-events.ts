import type { CDPSession, Page } from 'playwright'
import { type DevTools, implementationOf } from './devtools.ts'

/** DevTools events of a page. */
export type PageEvents = Pick<CDPSession, 'on'>

/** The part of Playwright's page implementation that is read here. */
interface PageImplementation {
  delegate?: { _mainFrameSession?: { _client?: DevTools; _workerSessions?: Map<string, PageEvents> } }
}

/**
 * Returns a source of the page's network and lifecycle events. Playwright has already enabled these events on its own session. A second session would
 * make the browser create and send each event twice, a tenth of the cost of a capture (ADR 18). So this uses Playwright's session if it is exposed,
 * and else enables the events on ours.
 *
 * The two sessions are not synchronized: a response on ours may arrive shortly before an event on Playwright's that the same task has caused. A caller
 * that needs all events of a response sends the page one more command.
 */
export async function pageEventsOf(page: Page, session: DevTools): Promise<PageEvents> {
  const client = findClient(page)
  if (client) return client
  await enablePageEvents(session)
  return session
}

/** Enables a session's network and lifecycle events. */
export async function enablePageEvents(session: DevTools): Promise<void> {
  await Promise.all([
    session.send('Page.enable'),
    session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
    enableNetwork(session),
  ])
}

/**
 * Makes the browser measure script time from the page's first script on. It must be enabled before the page opens, because a page in another process
 * inherits it. Otherwise that page would look like one without scripts.
 */
export const countScripts = (session: DevTools) => session.send('Performance.enable')

/** Bypasses service workers for all requests. This has an effect only on a session with Network events enabled. */
export async function bypassServiceWorkers(session: DevTools): Promise<void> {
  await enableNetwork(session)
  await session.send('Network.setBypassServiceWorker', { bypass: true })
}

/** Enables the network events of a page's or worker's session. */
export const enableNetwork = (session: DevTools) => session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 })

/** Playwright's internal session of a page's main frame; undefined if this version of Playwright has none. */
export const mainSessionOf = (page: Page) => (implementationOf(page) as PageImplementation | undefined)?.delegate?._mainFrameSession

/** Playwright's own session with a page; undefined if this version of Playwright does not expose it. */
export function findClient(page: Page): DevTools | undefined {
  const client = mainSessionOf(page)?._client
  return typeof client?.on === 'function' ? client : undefined
}
