import type { ContextPlan } from '../plan/context.ts'
import type { MediaPlan } from '../plan/media.ts'
import type { DevTools, ParentSession } from './devtools.ts'
import { emulate, toEmulatedMedia, toLayoutMetrics, toMetrics, WITHOUT_SHARED_WORKERS } from './emulation.ts'
import { Lifecycle } from './lifecycle.ts'
import { countScripts, enableNetwork, enablePageEvents } from './page-events.ts'
import { createEnd, evaluateIn, type Tab, type TabParts } from './tab.ts'
import { buildUserAgent } from './user-agent.ts'

// Most captures need nothing of a page that DevTools would not do, and Playwright's own page is a twelfth of what they cost: it has the browser
// tell it of worlds, consoles and workers, keeps what was loaded, and makes objects of it all (ADR 24).

/**
 * Makes a tab by DevTools alone, in a context that Playwright does not know of.
 * @param control a session with the browser
 * @param gone ends when the browser does: sessions end with it without a word
 */
export async function openPlainTab(control: ParentSession, { browser, exit, plan }: TabParts, gone: AbortSignal): Promise<Tab> {
  const { browserContextId } = await control.send('Target.createBrowserContext', {
    disposeOnDetach: true,
    proxyServer: exit.proxyUrl,
    proxyBypassList: '<-loopback>',
  })
  const close = async (): Promise<void> => {
    await control.send('Target.disposeBrowserContext', { browserContextId })
  }
  try {
    const [, { targetId }] = await Promise.all([
      control.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
      control.send('Target.createTarget', { url: 'about:blank', browserContextId }),
    ])
    const [{ sessionId }, { windowId }] = await Promise.all([
      control.send('Target.attachToTarget', { targetId, flatten: true }),
      control.send('Browser.getWindowForTarget', { targetId }),
    ])
    const end = createEnd()
    const session = control.child(sessionId, end.close)
    gone.addEventListener('abort', end.close, { once: true, signal: end.signal })
    session.on('Inspector.targetCrashed', end.crash)
    let window = plan.viewport
    const resize = async (viewport: ContextPlan['viewport']): Promise<void> => {
      window = viewport
      const bounds = { width: viewport.width + BORDERS.width, height: viewport.height + BORDERS.height }
      await Promise.all([
        control.send('Browser.setWindowBounds', { windowId, bounds }),
        session.send('Emulation.setDeviceMetricsOverride', toMetrics({ ...plan, viewport })),
      ])
    }
    const lifecycle = new Lifecycle(session, targetId)
    const frames = new Frames(session, { version: browser.version(), plan, lifecycle })
    await Promise.all([
      enablePageEvents(session),
      countScripts(session),
      session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
      resize(plan.viewport),
      frames.start(),
    ])
    return {
      browser,
      session,
      events: session,
      lifecycle,
      exit,
      // A page's main frame has its target's id.
      mainFrame: targetId,
      ended: end.signal,
      evaluate: evaluateIn(session, lifecycle, targetId),
      resize,
      layOut: async (height) => {
        await session.send('Emulation.setDeviceMetricsOverride', toLayoutMetrics({ ...plan, viewport: window }, height))
      },
      setMedia: (media) => frames.setMedia(media),
      addInitScript: (source) => frames.addInitScript(source),
      foreignFrames: async () => frames.foreign,
      close,
    }
  } catch (error) {
    close().catch(() => {})
    throw error
  }
}

/** CSS pixels around the window's content, as of a browser that somebody looks at. Playwright's windows have the same. */
const BORDERS = { width: 8, height: 85 }

/** What all of a page's frames are told: those of its own process by the page's session, each of another process by one of its own. */
class Frames {
  readonly #page: ParentSession
  readonly #version: string
  readonly #plan: TabParts['plan']
  readonly #lifecycle: Lifecycle
  readonly #foreign = new Set<DevTools>()
  readonly #scripts = [WITHOUT_SHARED_WORKERS]
  #media: MediaPlan

  constructor(page: ParentSession, { version, plan, lifecycle }: { version: string; plan: TabParts['plan']; lifecycle: Lifecycle }) {
    this.#page = page
    this.#version = version
    this.#plan = plan
    this.#lifecycle = lifecycle
    this.#media = plan
  }

  get foreign(): DevTools[] {
    return [...this.#foreign]
  }

  start(): Promise<void> {
    return this.#attend(this.#page)
  }

  async setMedia(media: MediaPlan): Promise<void> {
    this.#media = media
    await this.#tellAll((session) => session.send('Emulation.setEmulatedMedia', toEmulatedMedia(media)))
  }

  async addInitScript(source: string): Promise<void> {
    this.#scripts.push(source)
    await this.#tellAll((session) => session.send('Page.addScriptToEvaluateOnNewDocument', { source }))
  }

  async #tellAll(tell: (session: DevTools) => Promise<unknown>): Promise<void> {
    // A frame may be gone by now; the page may not.
    await Promise.all([tell(this.#page), ...this.foreign.map((session) => tell(session).catch(() => {}))])
  }

  async #attend(session: ParentSession): Promise<void> {
    session.on('Target.attachedToTarget', ({ sessionId, targetInfo: { type, targetId } }) => {
      if (type === 'iframe') this.#adopt(session, sessionId)
      // What a frame of another process loads is not counted, nor is what its workers do.
      else if (type === 'worker' && session === this.#page) this.#countWorker(session, sessionId, targetId)
      else this.#meetWorker(session.child(sessionId, () => {}))
    })
    session.on('Page.javascriptDialogOpening', ({ type }) => {
      // Nobody is there to answer. A page that asks whether it may be left may.
      session.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => {})
    })
    await Promise.all([
      emulate(session, this.#version, { ...this.#plan, ...this.#media }),
      ...this.#scripts.map((source) => session.send('Page.addScriptToEvaluateOnNewDocument', { source, runImmediately: true })),
      session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
    ])
  }

  /** A frame that another process gets waits until it has been told. */
  #adopt(parent: ParentSession, sessionId: string): void {
    const frame = parent.child(sessionId, () => this.#foreign.delete(frame))
    this.#foreign.add(frame)
    Promise.all([frame.send('Page.enable'), this.#attend(frame), frame.send('Runtime.runIfWaitingForDebugger')]).catch(() => {})
  }

  /**
   * Workers of the page believe what it does; a service worker has to be told, once it is there. The browser is not asked to leave workers alone: it
   * would have them wait all the same, and for ever.
   */
  #meetWorker(worker: ParentSession): void {
    const overridden = worker.send('Emulation.setUserAgentOverride', buildUserAgent(this.#version, this.#plan.emulated))
    Promise.all([overridden, worker.send('Runtime.runIfWaitingForDebugger')]).catch(() => {})
  }

  /** A dedicated worker, and those that it starts, are listened to: what they load is the page's. */
  #countWorker(parent: ParentSession, sessionId: string, targetId: string): void {
    const worker = parent.child(sessionId, () => end())
    const end = this.#lifecycle.attendWorker(worker, targetId)
    worker.on('Target.attachedToTarget', ({ sessionId: inner, targetInfo }) => this.#countWorker(worker, inner, targetInfo.targetId))
    const autoAttach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
    Promise.all([enableNetwork(worker), worker.send('Target.setAutoAttach', autoAttach)]).catch(() => {})
    this.#meetWorker(worker)
  }
}
