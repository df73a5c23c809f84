import type { DevTools } from '../browser/devtools.ts'
import type { Tab } from '../browser/tab.ts'
import type { ConsentRules } from './lists.ts'

// Runs autoconsent in the frames of a page, out of reach of the page's own scripts: in a world of its own, with a binding that no other world has.
// What it asks to have evaluated are texts out of its own package; they run among the page's scripts, because they call the banner's functions.

const WORLD = 'tintype-consent'
const BINDING = 'tintypeConsent'

/** What a frame's program tells; the rest of its messages is of no use here. */
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

/** What the frames are told, and who hears of them. */
export interface ConsentOptions extends Pick<ConsentRules, 'script'> {
  config: unknown
  /** Chooses the rules that a frame needs. */
  rulesFor: (url: string, isMainFrame: boolean) => unknown
  /** @param isForeign another process has the frame */
  onMessage: (message: ConsentMessage, isForeign: boolean) => void
}

/** The page's frames, those of other processes among them. */
export class ConsentFrames {
  readonly #tab: Tab
  readonly #options: ConsentOptions
  readonly #known = new WeakSet<DevTools>()
  /** What is being done for a frame: its program waits for it. */
  readonly #open = new Set<Promise<void>>()
  #lastForeign = Number.NEGATIVE_INFINITY

  constructor(tab: Tab, options: ConsentOptions) {
    this.#tab = tab
    this.#options = options
  }

  /** True when another process has one of the frames. */
  get hasForeign(): boolean {
    return this.#lastForeign > Number.NEGATIVE_INFINITY
  }

  /** When the last frame of another process was begun with, on the runner's clock. */
  get lastForeign(): number {
    return this.#lastForeign
  }

  /** Begins with the page and every frame that its process has, now and later. */
  async start(): Promise<void> {
    await this.#attend(this.#tab.session)
  }

  /** Begins with frames that another process has; to be called now and then, because they come when they like. */
  async attendForeignFrames(): Promise<void> {
    for (const session of await this.#tab.foreignFrames()) {
      if (this.#known.has(session)) continue
      this.#known.add(session)
      this.#lastForeign = performance.now()
      await this.#attend(session).catch(() => {})
    }
  }

  /** Waits until no program waits for the runner. A clock that runs ahead meanwhile would take the time from them. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open)
  }

  /** What fails of it was for a frame that is no more. */
  #doing(promise: Promise<void>): void {
    const open = promise.catch(() => {}).finally(() => this.#open.delete(open))
    this.#open.add(open)
  }

  async #attend(session: DevTools): Promise<void> {
    const worlds = new Map<string, number>()
    session.on('Runtime.executionContextCreated', ({ context }) => {
      const { frameId, isDefault } = context.auxData as { frameId?: string; isDefault?: boolean }
      if (!isDefault || frameId === undefined) return
      worlds.set(frameId, context.id)
      this.#doing(this.#begin(session, frameId))
    })
    session.on('Runtime.bindingCalled', ({ name, payload, executionContextId }) => {
      if (name === BINDING) this.#doing(this.#hear({ session, worlds, executionContextId }, payload))
    })
    await session.send('Runtime.addBinding', { name: BINDING, executionContextName: WORLD })
    await session.send('Runtime.enable')
  }

  async #begin(session: DevTools, frameId: string): Promise<void> {
    const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId, worldName: WORLD })
    const expression = `(() => {
      globalThis.tintypeFrame ??= ${JSON.stringify(frameId)}
      globalThis.autoconsentSendMessage ??= (message) => Promise.resolve(${BINDING}(JSON.stringify({ frameId: tintypeFrame, message })))
      if (!globalThis.autoconsentReceiveMessage) { ${this.#options.script} }
    })()`
    await session.send('Runtime.evaluate', { expression, contextId: executionContextId })
  }

  async #hear({ session, worlds, executionContextId }: Speaker, payload: string): Promise<void> {
    const { frameId, message } = JSON.parse(payload) as { frameId: string; message: ConsentMessage }
    this.#options.onMessage(message, session !== this.#tab.session)
    const isMainFrame = frameId === this.#tab.mainFrame
    if (message.type === 'init') {
      const { config } = this.#options
      await tell(session, executionContextId, { type: 'initResp', config, rules: this.#options.rulesFor(message.url ?? '', isMainFrame) })
    }
    if (message.type === 'eval') {
      const contextId = worlds.get(frameId)
      const result = contextId === undefined ? false : await evaluate(session, contextId, message.code ?? '')
      await tell(session, executionContextId, { type: 'evalResp', id: message.id, result })
    }
  }
}

interface Speaker {
  session: DevTools
  /** The frames' own worlds. */
  worlds: ReadonlyMap<string, number>
  executionContextId: number
}

const tell = (session: DevTools, contextId: number, message: object) =>
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
