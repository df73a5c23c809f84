import type { DevTools } from '../browser/devtools.ts'
import type { Tab } from '../browser/tab.ts'
import type { ConsentRules } from './lists.ts'

// Runs autoconsent in the frames of a page, in an isolated world with a binding that no other world has. The page's scripts cannot reach it. Code that
// autoconsent asks to evaluate comes from its own package. It runs in the page's main world, because it calls the banner's functions.

const WORLD = 'tintype-consent'
const BINDING = 'tintypeConsent'

/** A message of a frame's autoconsent instance, as far as it is used here. */
export interface ConsentMessage {
  type: string
  id?: string
  code?: string
  cmp?: string
  result?: boolean
  state?: { lifecycle: string; findCmpAttempts: number }
  instanceId?: string
  mainFrame?: boolean
  url?: string
}

/** Settings for the frames, and the handler of their messages. */
export interface ConsentOptions extends Pick<ConsentRules, 'script'> {
  config: unknown
  /** Selects the rules that a frame needs. */
  rulesFor: (url: string, isMainFrame: boolean) => unknown
  /** @param isForeign true for an out-of-process frame */
  onMessage: (message: ConsentMessage, isForeign: boolean) => void
}

/** The page's frames, including out-of-process frames. */
export class ConsentFrames {
  readonly #tab: Tab
  readonly #options: ConsentOptions
  readonly #known = new WeakSet<DevTools>()
  /** Pending work for frames whose autoconsent instance waits for it. */
  readonly #open = new Set<Promise<void>>()
  #lastForeign = Number.NEGATIVE_INFINITY

  constructor(tab: Tab, options: ConsentOptions) {
    this.#tab = tab
    this.#options = options
  }

  /** True if there is an out-of-process frame. */
  get hasForeign(): boolean {
    return this.#lastForeign > Number.NEGATIVE_INFINITY
  }

  /** When autoconsent started in the last out-of-process frame, on the runner's clock. */
  get lastForeign(): number {
    return this.#lastForeign
  }

  /** Starts autoconsent in the page and in all current and future frames of its process. */
  async start(): Promise<void> {
    await this.#startIn(this.#tab.session)
  }

  /** Starts autoconsent in new out-of-process frames. Call it repeatedly, because such frames may appear at any time. */
  async startForeignFrames(): Promise<void> {
    for (const session of this.#tab.foreignFrames()) {
      if (this.#known.has(session)) continue
      this.#known.add(session)
      this.#lastForeign = performance.now()
      await this.#startIn(session).catch(() => {})
    }
  }

  /** Waits until no instance waits for the runner. Otherwise an advancing clock would use up their time. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }

  /** Tracks pending work. A failure means that the frame is gone. */
  #track(promise: Promise<void>): void {
    const open = promise.catch(() => {}).finally(() => this.#open.delete(open))
    this.#open.add(open)
  }

  async #startIn(session: DevTools): Promise<void> {
    const worlds = new Map<string, number>()
    session.on('Runtime.executionContextCreated', ({ context }) => {
      const { frameId, isDefault } = context.auxData as { frameId?: string; isDefault?: boolean }
      if (!isDefault || frameId === undefined) return
      worlds.set(frameId, context.id)
      this.#track(this.#inject(session, frameId))
    })
    session.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
      if (name === BINDING) this.#track(this.#handleMessage({ session, worlds, executionContextId }, payload))
    })
    await session.send('Runtime.addBinding', { name: BINDING, executionContextName: WORLD })
    await session.send('Runtime.enable')
  }

  async #inject(session: DevTools, frameId: string): Promise<void> {
    const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName: WORLD })
    const expression = `(() => {
      globalThis.tintypeFrame ??= ${JSON.stringify(frameId)}
      globalThis.autoconsentSendMessage ??= (message) => Promise.resolve(${BINDING}(JSON.stringify({ frameId: tintypeFrame, message })))
      if (!globalThis.autoconsentReceiveMessage) { ${this.#options.script} }
    })()`
    await session.send('Runtime.evaluate', { expression, contextId: executionContextId })
  }

  async #handleMessage({ session, worlds, executionContextId }: MessageSource, payload: string): Promise<void> {
    const { frameId, message } = JSON.parse(payload) as { frameId: string; message: ConsentMessage }
    this.#options.onMessage(message, session !== this.#tab.session)
    const isMainFrame = frameId === this.#tab.mainFrame
    if (message.type === 'init') {
      const { config } = this.#options
      await send(session, executionContextId, { type: 'initResp', config, rules: this.#options.rulesFor(message.url ?? '', isMainFrame) })
    }
    if (message.type === 'eval') {
      const contextId = worlds.get(frameId)
      const result = contextId === undefined ? false : await evaluate(session, contextId, message.code ?? '')
      await send(session, executionContextId, { type: 'evalResp', id: message.id, result })
    }
  }
}

interface MessageSource {
  session: DevTools
  /** The frames' main worlds. */
  worlds: ReadonlyMap<string, number>
  executionContextId: number
}

const send = (session: DevTools, contextId: number, message: object) =>
  session.send('Runtime.evaluate', { expression: `autoconsentReceiveMessage(${JSON.stringify(message)})`, contextId })

async function evaluate(session: DevTools, contextId: number, expression: string): Promise<unknown> {
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  })
  return exceptionDetails ? false : result.value
}
