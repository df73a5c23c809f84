import type { EgressSession } from '../egress/session.ts'
import type { EvaluateOptions } from '../page/call.ts'
import type { ContextPlan, MediaPlan } from '../plan/context.ts'
import { CaptureError, FrameHungError } from '../runtime/errors.ts'
import { awaitResponse } from '../runtime/race.ts'
import { countScripts, type DevTools, enableNetwork, enablePageEvents, type ParentSession } from './devtools.ts'
import { emulate, emulateIdentity, toEmulatedMedia, toInitScripts, toMetrics, WITH_MOVING_CLOCK } from './emulation.ts'
import { FrameControl, type FrameLock, toFrameTarget } from './frame-control.ts'
import { Lifecycle } from './lifecycle.ts'

// Opens tabs by DevTools alone, in contexts that Playwright does not know. Its own pages cost a twelfth of a capture, because they track execution
// contexts, consoles and workers, keep loaded resources, and create objects for all of them (ADR 94).

/** One page in its own context with its own egress session, for one capture. Opened ahead and used once. */
export interface Tab {
  /** Has the page's network and lifecycle events enabled. */
  readonly session: DevTools
  readonly lifecycle: Lifecycle
  readonly egress: EgressSession
  /** Id of the main frame. */
  readonly mainFrame: string
  /** Aborts when the page ends for any reason; the reason is a CaptureError. */
  readonly ended: AbortSignal
  /** Begins the frames of the tab, from the first navigation on; only if the plan has `frameControl`. */
  readonly frames?: FrameControl
  /**
   * Evaluates an expression in an isolated world: it can access the page's elements, but the page's scripts cannot access it. The expression must be
   * synchronous, because with JavaScript disabled no timer, frame or promise completes. Otherwise `awaitPromise` returns a promise's value.
   */
  readonly evaluate: <T>(expression: string, signal: AbortSignal, how?: EvaluateOptions) => Promise<T>
  /** Resizes the window, in CSS pixels. */
  readonly resize: (viewport: ContextPlan['viewport']) => Promise<void>
  /**
   * Lays out the page in a window of another height, in CSS pixels. The visible size stays the same, which costs no memory. Without a height, restores the
   * window's own layout.
   */
  readonly layOut: (height?: number) => Promise<void>
  /** Sets the emulated media. */
  readonly setMedia: (media: MediaPlan) => Promise<void>
  /** Adds a script that runs before any script of the page, in every frame. */
  readonly addInitScript: (source: string) => Promise<void>
  /** Reports each error that no script catches, in the page, its frames and their workers. Call it once, before the page opens. */
  readonly watchErrors: (onError: (message: string) => void) => Promise<void>
  /** Sessions with the current out-of-process frames; always the same session for the same frame. */
  readonly foreignFrames: () => DevTools[]
  /** Opens another session with the browser. It ends with the page. */
  readonly openBrowserSession: () => Promise<ParentSession>
  /** Closes the page and deletes all that it has stored. May never return. */
  readonly close: () => Promise<void>
}

/** Inputs for opening a tab. */
export interface TabParts {
  /** A session with the browser. */
  control: ParentSession
  /** Of the browser. */
  version: string
  /** Of the browser. */
  frameLock: FrameLock
  /** Aborts when the browser ends, because sessions then end without an event. */
  gone: AbortSignal
  egress: EgressSession
  plan: ContextPlan
}

/** Opens a tab. @throws when the browser refuses a value of the plan */
export async function openTab(parts: TabParts): Promise<Tab> {
  const { control, egress, plan } = parts
  const { browserContextId } = await control.send('Target.createBrowserContext', {
    disposeOnDetach: true,
    proxyServer: egress.proxyUrl,
    proxyBypassList: '<-loopback>',
  })
  const disposeContext = async (): Promise<void> => {
    await control.send('Target.disposeBrowserContext', { browserContextId })
  }
  try {
    const [{ targetId }] = await Promise.all([
      control.send('Target.createTarget', { url: 'about:blank', browserContextId, ...toFrameTarget(plan) }),
      control.send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
      plan.geolocation && control.send('Browser.grantPermissions', { permissions: ['geolocation'], browserContextId }),
    ])
    return await setUpTab(targetId, parts, disposeContext)
  } catch (error) {
    disposeContext().catch(() => {})
    throw error
  }
}

/** @param mainFrame id of the page's main frame, which equals its target id */
async function setUpTab(mainFrame: string, parts: TabParts, disposeContext: () => Promise<void>): Promise<Tab> {
  const { control, egress, plan, frameLock, gone } = parts
  const { sessionId } = await control.send('Target.attachToTarget', { targetId: mainFrame, flatten: true })
  const end = createEnd(frameLock)
  const session = control.child(sessionId, end.close)
  gone.addEventListener('abort', end.close, { once: true, signal: end.signal })
  session.on('Inspector.targetCrashed', end.crash)
  const lifecycle = new Lifecycle(session, mainFrame)
  const settings = new Settings(session, lifecycle, parts)
  const frames = plan.frameControl && new FrameControl(session, end.signal, frameLock, end.hang)
  frames?.follow(lifecycle)
  let window = toMetrics(plan)
  const resize = async (viewport: ContextPlan['viewport']): Promise<void> => {
    window = toMetrics({ ...plan, viewport })
    await session.send('Emulation.setDeviceMetricsOverride', window)
  }
  await Promise.all([
    enablePageEvents(session),
    countScripts(session),
    session.send('Emulation.setFocusEmulationEnabled', { enabled: true }),
    resize(plan.viewport),
    settings.start(),
  ])
  return {
    session,
    lifecycle,
    egress,
    ...(frames ? { frames } : {}),
    mainFrame,
    ended: end.signal,
    evaluate: evaluateIn(session, lifecycle, mainFrame),
    resize,
    layOut: async (height) => {
      const metrics = height === undefined ? window : { ...window, height, dontSetVisibleSize: true }
      await session.send('Emulation.setDeviceMetricsOverride', metrics)
    },
    setMedia: (media) => settings.setMedia(media),
    addInitScript: (source) => settings.addInitScript(source),
    watchErrors: (onError) => settings.watchErrors(onError),
    foreignFrames: () => settings.foreign,
    openBrowserSession: async () => {
      const attached = await control.send('Target.attachToBrowserTarget')
      end.signal.addEventListener('abort', () => void control.send('Target.detachFromTarget', attached).catch(() => {}), { once: true })
      return control.child(attached.sessionId, () => {})
    },
    close: () => {
      frames?.cancel()
      return disposeContext()
    },
  }
}

/** Applies settings to a page, to its frames in other processes, and to workers. Each has a session of its own. */
class Settings {
  readonly #page: ParentSession
  readonly #lifecycle: Lifecycle
  readonly #version: string
  readonly #foreign = new Set<DevTools>()
  readonly #scripts: string[]
  #plan: ContextPlan
  #onError: ((message: string) => void) | undefined

  constructor(page: ParentSession, lifecycle: Lifecycle, { version, plan }: TabParts) {
    this.#page = page
    this.#lifecycle = lifecycle
    this.#version = version
    this.#plan = plan
    this.#scripts = toInitScripts(plan)
  }

  get foreign(): DevTools[] {
    return [...this.#foreign]
  }

  start(): Promise<void> {
    return this.#setUp(this.#page)
  }

  async setMedia(media: MediaPlan): Promise<void> {
    this.#plan = { ...this.#plan, ...media }
    await this.#sendToAll((session) => session.send('Emulation.setEmulatedMedia', toEmulatedMedia(media)))
  }

  async addInitScript(source: string): Promise<void> {
    this.#scripts.push(source)
    await this.#sendToAll((session) => session.send('Page.addScriptToEvaluateOnNewDocument', { source }))
  }

  async watchErrors(onError: (message: string) => void): Promise<void> {
    this.#onError = onError
    await this.#reportErrors(this.#page)
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
      emulate(session, this.#version, this.#plan),
      ...this.#scripts.map((source) => session.send('Page.addScriptToEvaluateOnNewDocument', { source, runImmediately: true })),
      this.#reportErrors(session),
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
   * Dedicated workers inherit most of the page's settings, a service worker none. Excluding workers from auto-attach does not work: the browser would
   * still pause them, forever. A new worker is paused until its settings are applied.
   */
  #setUpWorker(worker: ParentSession): void {
    Promise.all([
      emulateIdentity(worker, this.#version, this.#plan),
      this.#reportErrors(worker),
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

  async #reportErrors(session: DevTools): Promise<void> {
    const onError = this.#onError
    if (!onError) return
    session.on('Runtime.exceptionThrown', ({ exceptionDetails: { exception, text } }) => {
      const [message = ''] = (exception?.description ?? String(exception?.value ?? text)).split('\n    at ', 1)
      onError(message)
    })
    await session.send('Runtime.enable')
  }
}

/** Changes the window size and media of a prepared tab. */
export async function adaptTab(tab: Tab, from: ContextPlan, to: ContextPlan): Promise<void> {
  const isSameSize = from.viewport.width === to.viewport.width && from.viewport.height === to.viewport.height
  await Promise.all([isSameSize ? undefined : tab.resize(to.viewport), isSameMedia(from, to) ? undefined : tab.setMedia(to)])
}

const isSameMedia = (a: MediaPlan, b: MediaPlan): boolean => JSON.stringify(toEmulatedMedia(a)) === JSON.stringify(toEmulatedMedia(b))

/** Creates the signal for the end of a page: by a crash, or with its browser. @param lock of the browser */
function createEnd(lock: FrameLock) {
  const end = new AbortController()
  const hang = () => end.abort(new FrameHungError())
  return {
    signal: end.signal,
    crash: () => end.abort(new CaptureError('PAGE_CRASHED', 'the page crashed or used more memory than a runner has')),
    close: () => (lock.isHung ? hang() : end.abort(new CaptureError('INTERNAL_ERROR', 'the browser ended'))),
    hang,
  }
}

/** Implements {@link Tab.evaluate}. */
function evaluateIn(session: DevTools, lifecycle: Lifecycle, mainFrame: string): Tab['evaluate'] {
  let world: { document: string | undefined; contextId: number } | undefined
  const worldOf = async (signal: AbortSignal): Promise<number> => {
    const { document } = lifecycle
    if (world && world.document === document) return world.contextId
    const made = await awaitResponse(createWorld(session, mainFrame), signal)
    world = { document, contextId: made.executionContextId }
    return world.contextId
  }
  return async <T>(expression: string, signal: AbortSignal, how: EvaluateOptions = {}): Promise<T> => {
    const contextId = await worldOf(signal)
    const evaluated = await awaitResponse(session.send('Runtime.evaluate', { expression, contextId, returnByValue: true, ...how }), signal)
    if (evaluated.exceptionDetails) throw new Error(evaluated.exceptionDetails.exception?.description ?? evaluated.exceptionDetails.text)
    return evaluated.result.value as T
  }
}

const WORLD = 'tintype'

/**
 * The isolated world of a frame in which page functions run. A frame has one. Its functions can also access frames of other origins in the same process;
 * no script of the page can use that.
 */
export const createWorld = (session: DevTools, frameId: string) =>
  session.send('Page.createIsolatedWorld', { frameId, worldName: WORLD, grantUniveralAccess: true })
