import type { BrowserContext, Frame, Page } from 'playwright'
import { type DevTools, directly } from './devtools.ts'
import { applyEmulation, emulateMedia, toContextOptions, toLayoutMetrics, WITHOUT_SHARED_WORKERS } from './emulation.ts'
import { Lifecycle } from './lifecycle.ts'
import { countScripts, findClient, pageEventsOf } from './page-events.ts'
import { followWorkers } from './playwright-workers.ts'
import { createEnd, evaluateIn, type Tab, type TabParts } from './tab.ts'

/** Opens a tab by Playwright, for emulation of another device, place, time or language, or for steps that need its page. */
export async function openPlaywrightTab({ browser, egress, plan }: TabParts): Promise<Tab> {
  const version = browser.version()
  const context = await browser.newContext({
    ...toContextOptions(plan, version),
    acceptDownloads: false,
    proxy: { server: egress.proxyUrl },
  })
  await context.addInitScript(WITHOUT_SHARED_WORKERS)
  if (plan.fixedTime !== undefined) await context.clock.setFixedTime(plan.fixedTime)
  const page = await context.newPage()
  // Registered after our own page: every later page is a popup.
  context.on('page', (popup) => void popup.close().catch(() => {}))
  const end = createEnd()
  page.once('crash', end.crash)
  page.once('close', end.close)
  const session = directly(await context.newCDPSession(page))
  const [{ frameTree }, events] = await Promise.all([
    session.send('Page.getFrameTree'),
    pageEventsOf(page, session),
    countScripts(session),
    applyEmulation(session, page, version, plan),
  ])
  const client = findClient(page)
  const mainFrame = frameTree.frame.id
  const lifecycle = new Lifecycle(events, mainFrame)
  followWorkers(page, lifecycle)
  return {
    browser,
    page,
    session,
    events,
    lifecycle,
    egress,
    mainFrame,
    ended: end.signal,
    evaluate: evaluateIn(session, lifecycle, mainFrame),
    resize: (viewport) => page.setViewportSize(viewport),
    // Uses Playwright's own session, because the scale of a second session would multiply with it.
    ...(client
      ? {
          layOut: async (height?: number) => {
            const viewport = page.viewportSize() ?? plan.viewport
            await client.send('Emulation.setDeviceMetricsOverride', toLayoutMetrics({ ...plan, viewport }, height))
          },
        }
      : {}),
    setMedia: (media) => emulateMedia(session, page, media),
    addInitScript: async (content) => void (await context.addInitScript({ content })),
    foreignFrames: framesOf(context, page),
    close: () => context.close(),
  }
}

function framesOf(context: BrowserContext, page: Page): Tab['foreignFrames'] {
  const sessions = new WeakMap<Frame, Promise<DevTools | undefined>>()
  const sessionOf = (frame: Frame): Promise<DevTools | undefined> => {
    // Fails for frames of the page's own process.
    const session = sessions.get(frame) ?? context.newCDPSession(frame).then(directly, () => undefined)
    sessions.set(frame, session)
    return session
  }
  return async () => {
    const main = page.mainFrame()
    const all = await Promise.all(page.frames().flatMap((frame) => (frame === main ? [] : [sessionOf(frame)])))
    return all.filter((session) => session !== undefined)
  }
}
