import type { PageEvents } from '../browser/page-events.ts'

// Which frame asks for what, for headers that are meant for one origin. An address alone does not tell: a page of another origin, shown after a
// redirect or in a frame, may ask that origin for anything, and must not do it with the client's credentials.

/** A request that is held, as `Fetch.requestPaused` tells it. */
export interface HeldRequest {
  frameId: string
  resourceType: string
  request: { url: string }
}

/** Judges whether two origins count as one; an empty one counts as none. */
export type IsSame = (a: string, b: string) => boolean

/** Follows the frames of one page. */
export class Requesters {
  readonly #mainFrame: string
  readonly #isSame: IsSame
  /** Parent of each frame of the page that this process of the browser tells of; frames within other sites' frames are not among them. */
  readonly #parents = new Map<string, string>()
  /** Origin of the document that each frame shows, told by the page. */
  readonly #shown = new Map<string, string>()
  /** Origin of the document that each frame asked for last, told by the network: the page's own word comes later. Empty: not to be trusted. */
  readonly #asked = new Map<string, string>()

  /** @param isSame which origins count as one */
  constructor(events: PageEvents, mainFrame: string, isSame: IsSame = (a, b) => a === b) {
    this.#mainFrame = mainFrame
    this.#isSame = isSame
    events.on('Page.frameAttached', ({ frameId, parentFrameId }) => void this.#parents.set(frameId, parentFrameId))
    events.on('Page.frameNavigated', ({ frame }) => void this.#shown.set(frame.id, frame.securityOrigin))
  }

  /** True when the request goes to the origin and comes from a document of it, or from nobody but us. Each request is to be told once. */
  isOwn(held: HeldRequest, origin: string): boolean {
    const { frameId, resourceType, request } = held
    const target = originOf(request.url)
    if (resourceType !== 'Document') return this.#isSame(target, origin) && this.#isAt(frameId, origin)
    const mayNavigate = this.#mayNavigate(frameId, origin)
    // A document that somebody else may have sent the frame to gets nothing either.
    this.#asked.set(frameId, mayNavigate ? target : '')
    return mayNavigate && this.#isSame(target, origin)
  }

  /** True when the frame, and every one around it, shows a document of the origin. */
  #isAt(frameId: string, origin: string): boolean {
    if (!this.#isSame(this.#asked.get(frameId) ?? '', origin) || !this.#isFree(frameId, origin)) return false
    if (frameId === this.#mainFrame) return true
    const parent = this.#parents.get(frameId)
    return parent !== undefined && this.#isAt(parent, origin)
  }

  /** Who navigates a frame cannot be known: so neither it nor the frame around it may be another origin's. */
  #mayNavigate(frameId: string, origin: string): boolean {
    if (!this.#isFree(frameId, origin)) return false
    if (frameId === this.#mainFrame) return true
    const parent = this.#parents.get(frameId)
    return parent !== undefined && this.#isAt(parent, origin) && this.#isSame(this.#asked.get(frameId) ?? origin, origin)
  }

  /** True while the frame shows nothing yet, or a document of the origin. */
  #isFree(frameId: string, origin: string): boolean {
    return this.#isSame(this.#shown.get(frameId) ?? origin, origin)
  }
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '')
