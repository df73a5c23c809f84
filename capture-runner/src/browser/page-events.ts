import type { CDPSession, Page } from 'playwright-core'
import { type DevTools, workerOf } from './devtools.ts'

/** DevTools events of a page. */
export type PageEvents = Pick<CDPSession, 'on'>

/** What does the work of a page, as far as it is read here. */
interface PageWorker {
  delegate?: { _mainFrameSession?: { _client?: DevTools; _workerSessions?: Map<string, PageEvents> } }
}

/**
 * Hears what the page's network and lifecycle tell. Playwright has the browser tell it all of that already; a session that asked for it too would have
 * each event made, sent and read twice, which is a tenth of what a capture costs (ADR 18). So its own session is listened to, where it can be found;
 * else ours is told to listen.
 *
 * The two sessions tell in turns: an answer on ours may come a moment before an event on Playwright's that the same task of the page has caused. Whoever
 * needs all that an answer has caused asks the page once more.
 */
export async function listenAlong(page: Page, session: DevTools): Promise<PageEvents> {
  const client = findClient(page)
  if (client) return client
  await enablePageEvents(session)
  return session
}

/** Has a session tell of its page's network and lifecycle. */
export async function enablePageEvents(session: DevTools): Promise<void> {
  await Promise.all([
    session.send('Page.enable'),
    session.send('Page.setLifecycleEventsEnabled', { enabled: true }),
    enableNetwork(session),
  ])
}

/**
 * Has the browser count the time of scripts from the page's first one on. A page in another process inherits it: it must be on before the page is opened,
 * or that page would look like one without scripts.
 */
export const countScripts = (session: DevTools) => session.send('Performance.enable')

/** Has requests go past service workers, whoever runs them. A session that does not listen to the network has no say in it. */
export async function bypassServiceWorkers(session: DevTools): Promise<void> {
  await enableNetwork(session)
  await session.send('Network.setBypassServiceWorker', { bypass: true })
}

/** Has a session tell of its page's or worker's network. */
export const enableNetwork = (session: DevTools) => session.send('Network.enable', { maxTotalBufferSize: 0, maxResourceBufferSize: 0 })

/** Playwright's own bookkeeping of a page's main frame; undefined where a version of Playwright has none. */
export const mainSessionOf = (page: Page) => (workerOf(page) as PageWorker | undefined)?.delegate?._mainFrameSession

/** Playwright's own session with a page; undefined where a version of Playwright has no way to it. */
export function findClient(page: Page): DevTools | undefined {
  const client = mainSessionOf(page)?._client
  return typeof client?.on === 'function' ? client : undefined
}
