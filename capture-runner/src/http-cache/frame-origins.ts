import type { PageEvents } from '../browser/devtools.ts'

/**
 * Tracks the origins of a page's frames. Chromium partitions its own cache by the sites of the top-level document and the frame; the batch's cache uses
 * their origins. This also preserves checks that cached responses skip: Cross-Origin-Resource-Policy and opaque response blocking depend on the
 * requesting origin.
 */
export class FrameOrigins {
  readonly #mainFrame: string
  readonly #origins = new Map<string, string>()
  /** Loader ids of documents with Cross-Origin-Embedder-Policy, which cached responses would bypass. */
  readonly #strict = new Set<string>()

  constructor(events: PageEvents, mainFrame: string) {
    this.#mainFrame = mainFrame
    events.on('Network.responseReceived', ({ type, loaderId, response }) => {
      if (type === 'Document' && isStrict(response.headers)) this.#strict.add(loaderId)
    })
    events.on('Page.frameNavigated', ({ frame: { id, loaderId, securityOrigin } }) => {
      // Frames without a web origin, such as sandboxed ones, share nothing.
      if (/^https?:/.test(securityOrigin) && !this.#strict.has(loaderId)) this.#origins.set(id, securityOrigin)
      else this.#origins.delete(id)
    })
    events.on('Page.frameDetached', ({ frameId }) => void this.#origins.delete(frameId))
  }

  /** Cache key for the origins of the frame and its page; undefined for frames of other pages and processes, and for strict ones. */
  keyOf(frameId: string): string | undefined {
    const [top, own] = [this.#origins.get(this.#mainFrame), this.#origins.get(frameId)]
    return top === undefined || own === undefined ? undefined : `${top} ${own}`
  }
}

function isStrict(headers: Readonly<Record<string, string>>): boolean {
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'cross-origin-embedder-policy')
  return found !== undefined && !/^\s*unsafe-none\b/i.test(found[1])
}
