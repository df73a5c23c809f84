import type { ContextPlan } from '../plan/context.ts'
import type { MediaPlan } from '../plan/media.ts'
import type { DevTools, ParentSession } from './devtools.ts'
import {
  emulate,
  toEmulatedMedia,
  toLayoutMetrics,
  toMetrics,
  WITH_CLOCK_AND_OUTER_SIZE,
  WITH_MOVING_CLOCK,
  WITHOUT_SHARED_WORKERS,
} from './emulation.ts'
import { FrameControl, toFrameTarget } from './frame-control.ts'
import { Lifecycle } from './lifecycle.ts'
import { countScripts, enableNetwork, enablePageEvents } from './page-events.ts'
import { createEnd, evaluateIn, type Tab, type TabParts } from './tab.ts'
import { buildUserAgent } from './user-agent.ts'

// Most captures need only what DevTools offers. Playwright's own page costs a twelfth of a capture, because it tracks execution contexts,
// consoles and workers, keeps loaded resources, and creates objects for all of them (ADR 24).

/**
 * Opens a tab by DevTools alone, in a context that Playwright does not know.
 * @param control a session with the browser
 * @param gone aborts when the browser ends, because sessions then end without an event
 */
export async function openPlainTab(
  control: ParentSession,
  { browser, egress, plan, frameLock }: TabParts,
  gone: AbortSignal,
): Promise<Tab> {
  const { browserContextId } = await control.send('Target.createBrowserContext', {
    disposeOnDetach: true,
    proxyServer: egress.proxyUrl,
    proxyBypassList: '<-loopback>',
  })
  let frames: FrameControl | undefined
  const close = async (): Promise<void> => {
    frames?.cancel()
    await control.send('Target.disposeBrowserContext', { browserContextId })
  }
  try {
    const [, { targetId }] = await Promise.all([
      control.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
      control.send('Target.createTarget', { url: 'about:blank', browserContextId, ...toFrameTarget(plan) }),
    ])
    const { sessionId } = await control.send('Target.attachToTarget', { targetId, flatten: true })
    const end = createEnd(frameLock)
    const session = control.child(sessionId, end.close)
    gone.addEventListener('abort', end.close, { once: true, signal: end.signal })
    session.on('Inspector.targetCrashed', end.crash)
    let window = plan.viewport
    const resize = async (viewport: ContextPlan['viewport']): Promise<void> => {
      window = viewport
      await session.send('Emulation.setDeviceMetricsOverride', toMetrics({ ...plan, viewport }))
    }
    const lifecycle = new Lifecycle(session, targetId)
    const settings = new Frames(session, { version: browser.version(), plan, lifecycle })
    if (plan.frameControl) frames = new FrameControl(session, end.signal, frameLock, end.hang)
    frames?.follow(lifecycle)
    await Promise.all([
      enablePageEvents(session),
      countScripts(session),
      session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
      resize(plan.viewport),
      settings.start(),
    ])
    return {
      browser,
      session,
      events: session,
      lifecycle,
      egress,
      ...(frames ? { frames } : {}),
      // The id of a page's main frame equals its target id.
      mainFrame: targetId,
      ended: end.signal,
      evaluate: evaluateIn(session, lifecycle, targetId),
      resize,
      layOut: async (height) => {
        await session.send('Emulation.setDeviceMetricsOverride', toLayoutMetrics({ ...plan, viewport: window }, height))
      },
      setMedia: (media) => settings.setMedia(media),
      addInitScript: (source) => settings.addInitScript(source),
      foreignFrames: async () => settings.foreign,
      close,
    }
  } catch (error) {
    close().catch(() => {})
    throw error
  }
}

/** Applies settings to all frames of a page: by the page's session to frames of its own process, by a separate session to each other frame. */
class Frames {
  readonly #page: ParentSession
  readonly #version: string
  readonly #plan: TabParts['plan']
  readonly #lifecycle: Lifecycle
  readonly #foreign = new Set<DevTools>()
  readonly #scripts: string[]
  #media: MediaPlan

  constructor(page: ParentSession, { version, plan, lifecycle }: { version: string; plan: TabParts['plan']; lifecycle: Lifecycle }) {
    this.#page = page
    this.#version = version
    this.#plan = plan
    this.#lifecycle = lifecycle
    this.#media = plan
    this.#scripts = [WITHOUT_SHARED_WORKERS, WITH_CLOCK_AND_OUTER_SIZE]
  }

  get foreign(): DevTools[] {
    return [...this.#foreign]
  }

  start(): Promise<void> {
    return this.#setUp(this.#page)
  }

  async setMedia(media: MediaPlan): Promise<void> {
    this.#media = media
    await this.#sendToAll((session) => session.send('Emulation.setEmulatedMedia', toEmulatedMedia(media)))
  }

  async addInitScript(source: string): Promise<void> {
    this.#scripts.push(source)
    await this.#sendToAll((session) => session.send('Page.addScriptToEvaluateOnNewDocument', { source }))
  }

  async #sendToAll(send: (session: DevTools) => Promise<unknown>): Promise<void> {
    // A frame may be gone by now, but the page may not.
    await Promise.all([send(this.#page), ...this.foreign.map((session) => send(session).catch(() => {}))])
  }

  async #setUp(session: ParentSession): Promise<void> {
    session.on('Target.attachedToTarget', ({ sessionId, targetInfo: { type, targetId } }) => {
      if (type === 'iframe') this.#adopt(session, sessionId)
      // Requests of out-of-process frames and their workers are not counted.
      else if (type === 'worker' && session === this.#page) this.#countWorker(session, sessionId, targetId)
      else this.#setUpWorker(session.child(sessionId, () => {}))
    })
    session.on('Page.javascriptDialogOpening', ({ type }) => {
      // Dismiss dialogs, but accept that the page is left.
      session.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => {})
    })
    await Promise.all([
      emulate(session, this.#version, { ...this.#plan, ...this.#media }),
      ...this.#scripts.map((source) => session.send('Page.addScriptToEvaluateOnNewDocument', { source, runImmediately: true })),
      session.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }),
    ])
  }

  /** A new out-of-process frame is paused until its settings are applied. */
  #adopt(parent: ParentSession, sessionId: string): void {
    const frame = parent.child(sessionId, () => this.#foreign.delete(frame))
    this.#foreign.add(frame)
    Promise.all([frame.send('Page.enable'), this.#setUp(frame), frame.send('Runtime.runIfWaitingForDebugger')]).catch(() => {})
  }

  /**
   * Dedicated workers inherit the page's settings, but a service worker needs its own override. Excluding workers from auto-attach does not work: the
   * browser would still pause them, forever. A new worker is paused until its settings are applied.
   */
  #setUpWorker(worker: ParentSession): void {
    Promise.all([
      worker.send('Emulation.setUserAgentOverride', buildUserAgent(this.#version, this.#plan.emulated)),
      worker.send('Runtime.evaluate', { expression: WITH_MOVING_CLOCK }),
      worker.send('Runtime.runIfWaitingForDebugger'),
    ]).catch(() => {})
  }

  /** Counts the requests of a dedicated worker, and of those that it starts, as the page's. */
  #countWorker(parent: ParentSession, sessionId: string, targetId: string): void {
    const worker = parent.child(sessionId, () => end())
    const end = this.#lifecycle.followWorker(worker, targetId)
    worker.on('Target.attachedToTarget', ({ sessionId: inner, targetInfo }) => this.#countWorker(worker, inner, targetInfo.targetId))
    const autoAttach = { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }
    Promise.all([enableNetwork(worker), worker.send('Target.setAutoAttach', autoAttach)]).catch(() => {})
    this.#setUpWorker(worker)
  }
}
