import type { BrowserContext, Frame, Page } from 'playwright'
import { toCall } from '../page/call.ts'
import type { ContextPlan } from '../plan/context.ts'
import { type DevTools, directly, type ParentSession } from './devtools.ts'
import {
  applyEmulation,
  emulateMedia,
  toContextOptions,
  toFrameMetrics,
  toLayoutMetrics,
  WITH_CLOCK_AND_OUTER_SIZE,
  WITH_MOVING_CLOCK,
  WITHOUT_SHARED_WORKERS,
} from './emulation.ts'
import { FrameControl, type FrameLock, toFrameTarget } from './frame-control.ts'
import { Lifecycle } from './lifecycle.ts'
import { countScripts, pageEventsOf } from './page-events.ts'
import { browserContextIdOf, pageSessionOf } from './playwright-internals.ts'
import { addWorkerScript, followWorkers } from './playwright-workers.ts'
import { createEnd, evaluateIn, type Tab, type TabParts } from './tab.ts'

/**
 * Opens a tab by Playwright, for emulation of another device, place, time or language, or for steps that need its page.
 * @param control a session with the browser; only tabs with frame control need it
 */
export async function openPlaywrightTab(parts: TabParts, control?: ParentSession): Promise<Tab> {
  const { browser, egress, plan } = parts
  const context = await browser.newContext({
    ...toContextOptions(plan, browser.version()),
    acceptDownloads: false,
    proxy: { server: egress.proxyUrl },
  })
  try {
    return await openIn(context, parts, control)
  } catch (error) {
    // The browser may go on, for example after it refused an option.
    context.close().catch(() => {})
    throw error
  }
}

async function openIn(
  context: BrowserContext,
  { browser, egress, plan, frameLock }: TabParts,
  control: ParentSession | undefined,
): Promise<Tab> {
  const version = browser.version()
  await context.addInitScript(WITHOUT_SHARED_WORKERS)
  // Below the client's time, which reads it. Tabs with frame control have windows of their own size.
  await context.addInitScript(plan.frameControl && !plan.emulated?.mobile ? WITH_CLOCK_AND_OUTER_SIZE : WITH_MOVING_CLOCK)
  if (plan.fixedTime !== undefined) await context.addInitScript(toCall('startClock', Date.parse(plan.fixedTime)))
  const end = createEnd(frameLock)
  const opened = plan.frameControl ? await openWithFrameControl(context, control, plan, frameLock, end.hang) : undefined
  const page = opened?.page ?? (await context.newPage())
  // Registered after our own page: every later page is a popup.
  context.on('page', (popup) => void popup.close().catch(() => {}))
  page.once('crash', end.crash)
  page.once('close', end.close)
  const session = directly(await context.newCDPSession(page))
  const [{ frameTree }, events] = await Promise.all([
    session.send('Page.getFrameTree'),
    pageEventsOf(page, session),
    countScripts(session),
    applyEmulation(session, page, version, plan),
  ])
  const own = pageSessionOf(page)
  let window = plan.viewport
  const resize = async (viewport: ContextPlan['viewport']): Promise<void> => {
    window = viewport
    if (!plan.frameControl) await page.setViewportSize(viewport)
    else await own?.send('Emulation.setDeviceMetricsOverride', toFrameMetrics({ ...plan, viewport }))
  }
  if (plan.frameControl) await resize(plan.viewport)
  const mainFrame = frameTree.frame.id
  const lifecycle = new Lifecycle(events, mainFrame)
  opened?.frames.follow(lifecycle)
  followWorkers(page, lifecycle)
  addWorkerScript(page, WITH_MOVING_CLOCK)
  return {
    browser,
    page,
    session,
    events,
    lifecycle,
    egress,
    ...(opened ? { frames: opened.frames } : {}),
    mainFrame,
    ended: end.signal,
    evaluate: evaluateIn(session, lifecycle, mainFrame),
    resize,
    // Uses Playwright's own session, because the scale of a second session would multiply with it.
    ...(own
      ? {
          layOut: async (height?: number) => {
            await own.send('Emulation.setDeviceMetricsOverride', toLayoutMetrics({ ...plan, viewport: window }, height))
          },
        }
      : {}),
    setMedia: (media) => emulateMedia(session, page, media),
    addInitScript: async (content) => void (await context.addInitScript({ content })),
    foreignFrames: framesOf(context, page),
    close: () => {
      opened?.frames.cancel()
      return context.close()
    },
  }
}

/** Opens a page that draws frames only on command. Playwright adopts it like a popup. */
async function openWithFrameControl(
  context: BrowserContext,
  control: ParentSession | undefined,
  plan: ContextPlan,
  frameLock: FrameLock,
  onHung: () => void,
) {
  const browserContextId = browserContextIdOf(context)
  if (!control || browserContextId === undefined) throw new Error('this version of Playwright does not expose its contexts')
  const adopted = context.waitForEvent('page')
  adopted.catch(() => {})
  const { targetId } = await control.send('Target.createTarget', { url: 'about:blank', browserContextId, ...toFrameTarget(plan) })
  const { sessionId } = await control.send('Target.attachToTarget', { targetId, flatten: true })
  const detached = new AbortController()
  const frames = new FrameControl(
    control.child(sessionId, () => detached.abort()),
    detached.signal,
    frameLock,
    onHung,
  )
  frames.start()
  return { page: await adopted, frames }
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
