import type { CDPSession, Page } from 'playwright'
import type { DevTools } from './devtools.ts'
import { pageSessionOf } from './playwright-internals.ts'

/** DevTools events of a page. */
export type PageEvents = Pick<CDPSession, 'on'>

/**
 * Returns a source of the page's network and lifecycle events. Playwright has already enabled these events on its own session. A second session would
 * make the browser create and send each event twice, a tenth of the cost of a capture (ADR 18). So this uses Playwright's session if it is exposed,
 * and else enables the events on ours.
 *
 * The two sessions are not synchronized: a response on ours may arrive shortly before an event on Playwright's that the same task has caused. A caller
 * that needs all events of a response sends the page one more command.
 */
export async function pageEventsOf(page: Page, session: DevTools): Promise<PageEvents> {
  const own = pageSessionOf(page)
  if (own) return own
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
