import { toCanonicalHost } from '@tintype/crds/addresses/address-rules'
import { matchesHost } from '@tintype/crds/addresses/host-patterns'
import type { Tab } from '../browser/tab.ts'
import type { Refusal } from '../egress/refusal.ts'

// The hosts that the page and its frames may show. Interception covers the documents of all tabs of the browser, so this decides which are the page's own.

/** A tab, as the frames of its page are found. */
type FrameSource = Pick<Tab, 'session' | 'mainFrame' | 'foreignFrames'>

interface FrameTree {
  frame: { id: string }
  childFrames?: FrameTree[]
}

/** Documents without a host show what their opener has. */
const HOSTLESS = new Set(['about:', 'blob:', 'data:'])

/** Decides which documents the capture policy of an API key allows. */
export class DocumentPolicy {
  readonly #tab: FrameSource
  readonly #limit: { keyId: string; hosts: readonly string[] }
  readonly #own: string | undefined
  readonly #frames: Set<string>

  /** @param own URL of the client's own markup, which no server has; absent: there is none */
  constructor(tab: FrameSource, limit: { keyId: string; hosts: readonly string[] }, own?: string) {
    this.#tab = tab
    this.#limit = limit
    this.#own = own
    this.#frames = new Set([tab.mainFrame])
    tab.session.on('Page.frameAttached', ({ frameId }) => void this.#frames.add(frameId))
  }

  /** Why a document must not be requested; undefined if it may be. */
  findRefusal(url: string): Refusal | undefined {
    const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' }
    const isAllowed = HOSTLESS.has(protocol) || url === this.#own || matchesHost(hostname, this.#limit.hosts)
    return isAllowed ? undefined : { keyId: this.#limit.keyId, field: 'allowedHosts', host: toCanonicalHost(hostname) ?? protocol }
  }

  /** Reports documents that are shown without a request that could be intercepted, as when speculation rules have fetched or rendered them before. */
  watchFrames(onRefused: (refusal: Refusal) => void): void {
    this.#tab.session.on('Page.frameNavigated', ({ frame: { url, unreachableUrl } }) => {
      const refusal = unreachableUrl === undefined ? this.findRefusal(url) : undefined
      if (refusal) onRefused(refusal)
    })
  }

  /** True if the frame is one of the page. A frame in another process is not known before that process has answered. */
  async owns(frameId: string): Promise<boolean> {
    if (this.#frames.has(frameId)) return true
    await Promise.all([this.#tab.session, ...this.#tab.foreignFrames()].map((session) => this.#readFrames(session)))
    return this.#frames.has(frameId)
  }

  async #readFrames(session: Tab['session']): Promise<void> {
    // A frame that is gone shows nothing.
    const answer = await session.send('Page.getFrameTree').catch(() => undefined)
    const note = ({ frame, childFrames = [] }: FrameTree): void => {
      this.#frames.add(frame.id)
      childFrames.forEach(note)
    }
    if (answer) note(answer.frameTree)
  }
}
