import type { PageEvents } from '../browser/devtools.ts'
import type { Tab } from '../browser/tab.ts'
import { type BatchCache, MAX_RESPONSE_BYTES } from './http-cache.ts'
import {
  createPolicy,
  type HeaderLine,
  isShareable,
  SHARED_TYPES,
  type SharedRequest,
  type StoredResponse,
  toBytes,
  toHeaderLines,
} from './policy.ts'

// The batch's cache for one page: finds responses to its requests, and stores those from the network. It reads a body after the page has received it,
// from the browser's bounded buffer. So the page does not wait, and a decompression bomb reaches neither the browser's main process nor the runner.
// The ExtraInfo events report what was really sent and received.

/** The part of an intercepted request that is read here. */
interface ShareableRequest {
  frameId: string
  /** The request's id in Network events. */
  networkId?: string
  resourceType: string
  redirectedRequestId?: string
  request: { method: string; url: string }
}

/** A request whose response may be stored. */
interface Candidate {
  key: string
  request: SharedRequest
  /** Bytes of the body so far, after decoding. */
  bytes: number
  /** The headers that were really sent identify no user. */
  isShareable: boolean
  isFinished: boolean
  response?: { policy: StoredResponse['policy']; headers: HeaderLine[] }
}

/** Size of the browser's buffer for bodies that are not read yet. */
const BUFFER_BYTES = 32 * 1024 * 1024
/** Maximum number of requests per page that are considered for storing. */
const MAX_CANDIDATES = 1_000

/** The cache as one page uses it. */
export class SharedResponses {
  /** Ids (of Network events) of requests that were served from the cache. */
  readonly hits = new Set<string>()
  readonly #tab: Pick<Tab, 'session'>
  readonly #cache: BatchCache
  readonly #origins: FrameOrigins
  readonly #candidates = new Map<string, Candidate>()
  #seen = 0
  /** Bodies are read one at a time. */
  #reading: Promise<void> = Promise.resolve()

  constructor(tab: Pick<Tab, 'session' | 'mainFrame'>, cache: BatchCache) {
    this.#tab = tab
    this.#cache = cache
    this.#origins = new FrameOrigins(tab.session, tab.mainFrame)
    this.#follow(tab.session)
  }

  /** Makes the browser keep bodies until they are read. */
  async start(): Promise<void> {
    await this.#tab.session.send('Network.enable', { maxTotalBufferSize: BUFFER_BYTES, maxResourceBufferSize: MAX_RESPONSE_BYTES })
  }

  /** The stored response to an intercepted request. If there is none, its response may be stored. @param headers as they will be sent */
  find(held: ShareableRequest, headers: Readonly<Record<string, string>>): StoredResponse | undefined {
    const { frameId, networkId, resourceType, redirectedRequestId, request } = held
    // The response after a redirect may depend on more than the URL.
    if (networkId === undefined || redirectedRequestId !== undefined || !SHARED_TYPES.some((type) => type === resourceType))
      return undefined
    const shared: SharedRequest = { ...request, headers }
    const place = this.#origins.keyOf(frameId)
    if (place === undefined || !isShareable(shared)) return undefined
    const key = `${place} ${originHeader(headers)} ${request.url}`
    const found = this.#cache.find(key, shared)
    if (found) this.hits.add(networkId)
    else if (this.#seen++ < MAX_CANDIDATES)
      this.#candidates.set(networkId, { key, request: shared, bytes: 0, isShareable: false, isFinished: false })
    return found
  }

  #follow(events: Tab['session']): void {
    const drop = ({ requestId }: { requestId: string }) => void this.#candidates.delete(requestId)
    const change = (requestId: string, note: (candidate: Candidate) => boolean) => {
      const candidate = this.#candidates.get(requestId)
      if (!candidate) return
      if (note(candidate)) this.#storeIfComplete(requestId, candidate)
      else this.#candidates.delete(requestId)
    }
    events.on('Network.requestWillBeSentExtraInfo', ({ requestId, headers }) =>
      change(requestId, (candidate) => {
        candidate.isShareable = isShareable({ ...candidate.request, headers })
        return candidate.isShareable
      }),
    )
    events.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode, headers }) =>
      change(requestId, (candidate) => {
        const policy = createPolicy(candidate.request, { status: statusCode, headers })
        if (policy) candidate.response = { policy, headers: toHeaderLines(headers) }
        return policy !== undefined
      }),
    )
    events.on('Network.responseReceived', ({ requestId, response: { url, fromDiskCache, fromServiceWorker, fromPrefetchCache } }) =>
      change(requestId, ({ request }) => !fromDiskCache && !fromServiceWorker && !fromPrefetchCache && url === request.url),
    )
    events.on('Network.dataReceived', ({ requestId, dataLength }) =>
      change(requestId, (candidate) => {
        candidate.bytes += dataLength
        return candidate.bytes <= MAX_RESPONSE_BYTES
      }),
    )
    events.on('Network.loadingFinished', ({ requestId }) =>
      change(requestId, (candidate) => {
        candidate.isFinished = true
        return true
      }),
    )
    events.on('Network.loadingFailed', drop)
  }

  /** The events of a request may arrive in any order. */
  #storeIfComplete(requestId: string, { key, bytes, isShareable, isFinished, response }: Candidate): void {
    if (!isShareable || !isFinished || !response) return
    this.#candidates.delete(requestId)
    const store = async (): Promise<void> => {
      const body = toBytes(await this.#tab.session.send('Network.getResponseBody', { requestId }), bytes)
      if (body) this.#cache.keep(key, { ...response, body })
    }
    // The page may be gone by now, or its buffer full.
    this.#reading = this.#reading.then(store).catch(() => {})
  }
}

/** CORS requests and others to the same URL may get different responses. */
const originHeader = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'origin')?.[1] ?? '-'

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
