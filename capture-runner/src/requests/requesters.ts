import type { PageEvents } from '../browser/devtools.ts'

// Determines which frame sends a request, for headers that are meant for one origin. The URL is not enough: a page of another origin, shown after a
// redirect or in a frame, may send requests to that origin, and must not get the client's credentials.

/** An intercepted request from `Fetch.requestPaused`. */
export interface HeldRequest {
  frameId: string
  resourceType: string
  request: { url: string }
}

/** Whether two origins count as the same. An empty origin equals none. */
export type IsSame = (a: string, b: string) => boolean

/** Tracks the frames of one page. */
export class Requesters {
  readonly #mainFrame: string
  readonly #isSame: IsSame
  /** Parent of each frame in the page's own process. Frames inside frames of other sites are missing. */
  readonly #parents = new Map<string, string>()
  /** Origin of each frame's current document, from Page events. */
  readonly #shown = new Map<string, string>()
  /** Origin of the document that each frame requested last. Page events arrive later than this. Empty: not trusted. */
  readonly #requested = new Map<string, string>()

  /** @param isSame which origins count as the same */
  constructor(events: PageEvents, mainFrame: string, isSame: IsSame = (a, b) => a === b) {
    this.#mainFrame = mainFrame
    this.#isSame = isSame
    events.on('Page.frameAttached', ({ frameId, parentFrameId }) => void this.#parents.set(frameId, parentFrameId))
    events.on('Page.frameNavigated', ({ frame }) => void this.#shown.set(frame.id, frame.securityOrigin))
  }

  /** True if the request goes to the origin and comes from a document of it, or from the runner itself. Call it once per request. */
  isOwn(held: HeldRequest, origin: string): boolean {
    const { frameId, resourceType, request } = held
    const target = originOf(request.url)
    if (resourceType !== 'Document') return this.#isSame(target, origin) && this.#isAt(frameId, origin)
    const mayNavigate = this.#mayNavigate(frameId, origin)
    // A document also gets nothing if another origin may have started the navigation.
    this.#requested.set(frameId, mayNavigate ? target : '')
    return mayNavigate && this.#isSame(target, origin)
  }

  /** True if the frame and all its ancestors show a document of the origin. */
  #isAt(frameId: string, origin: string): boolean {
    if (!this.#isSame(this.#requested.get(frameId) ?? '', origin) || !this.#isFree(frameId, origin)) return false
    if (frameId === this.#mainFrame) return true
    const parent = this.#parents.get(frameId)
    return parent !== undefined && this.#isAt(parent, origin)
  }

  /** The initiator of a navigation is unknown, so neither the frame nor its parent may belong to another origin. */
  #mayNavigate(frameId: string, origin: string): boolean {
    if (!this.#isFree(frameId, origin)) return false
    if (frameId === this.#mainFrame) return true
    const parent = this.#parents.get(frameId)
    return parent !== undefined && this.#isAt(parent, origin) && this.#isSame(this.#requested.get(frameId) ?? origin, origin)
  }

  /** True while the frame shows no document, or one of the origin. */
  #isFree(frameId: string, origin: string): boolean {
    return this.#isSame(this.#shown.get(frameId) ?? origin, origin)
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '')
