import type { PageEvents } from '../browser/page-events.ts'

/**
 * Follows the origins of a page's frames. Chromium keys its own cache by the sites of the top-level document and of the frame; so does the batch's,
 * by their origins. That also keeps the browser's checks sound that a response from the cache would not meet: Cross-Origin-Resource-Policy and
 * opaque response blocking depend on who asks.
 */
export class FrameOrigins {
  readonly #mainFrame: string
  readonly #origins = new Map<string, string>()
  /** Loaders of documents that embed only what permits it: a response from the cache would not be checked for that. */
  readonly #strict = new Set<string>()

  constructor(events: PageEvents, mainFrame: string) {
    this.#mainFrame = mainFrame
    events.on('Network.responseReceived', ({ type, loaderId, response }) => {
      if (type === 'Document' && isStrict(response.headers)) this.#strict.add(loaderId)
    })
    events.on('Page.frameNavigated', ({ frame: { id, loaderId, securityOrigin } }) => {
      // Frames without an origin of the web, such as sandboxed ones, share nothing.
      if (/^https?:/.test(securityOrigin) && !this.#strict.has(loaderId)) this.#origins.set(id, securityOrigin)
      else this.#origins.delete(id)
    })
    events.on('Page.frameDetached', ({ frameId }) => void this.#origins.delete(frameId))
  }

  /** Stands for the origins of the frame and of the page around it; undefined for frames of other pages and processes, and for strict ones. */
  keyOf(frameId: string): string | undefined {
    const [top, own] = [this.#origins.get(this.#mainFrame), this.#origins.get(frameId)]
    return top === undefined || own === undefined ? undefined : `${top} ${own}`
  }
}

function isStrict(headers: Readonly<Record<string, string>>): boolean {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'cross-origin-embedder-policy')
  return found !== undefined && !/^\s*unsafe-none\b/i.test(found[1])
}
