import { domainToUnicode } from 'node:url'
import { type FiltersEngine, Request, type RequestType } from '@ghostery/adblocker'
import type { ResourceKind } from '@tintype/crds/options/page/preparing'
import { siteOf } from '../browser/site.ts'
import type { RequestRules } from '../plan/blocking.ts'

/** An intercepted request of the page. */
export interface PageRequest {
  url: string
  /** DevTools resource type such as `Document` or `XHR`. */
  resourceType: string
  /** True for the document to capture. */
  isPage: boolean
  /** URL of the document that sends the request; absent: the page. */
  documentUrl: string | undefined
}

/** `empty`: respond without content, where a blocked request would show an error page in a frame or stop a script. */
export type Decision = 'pass' | 'refuse' | 'empty'

/** The page's own document always passes. */
const PASS: Decision = 'pass'
/** Resource types that get an empty response if the rule has a replacement. */
const REPLACEABLE = new Set(['Script', 'XHR', 'Fetch', 'Stylesheet'])

/** Decides which requests of one capture to block. */
export class RequestEvaluator {
  /** URLs of blocked images and frames, whose boxes are hidden later. */
  readonly refusedPlaces = new Set<string>()
  /** Number of blocked requests. */
  refused = 0
  readonly #rules: RequestRules
  readonly #engines: readonly FiltersEngine[]
  readonly #isAllowed: (address: string) => boolean
  readonly #isRefused: (address: string) => boolean
  readonly #kinds: ReadonlySet<ResourceKind>
  /** URL of the page, which redirects may change. */
  #page: string

  constructor(page: string, rules: RequestRules, engines: readonly FiltersEngine[]) {
    this.#page = page
    this.#rules = rules
    this.#engines = engines
    this.#isAllowed = createMatcher(rules.allowed)
    this.#isRefused = createMatcher(rules.refused)
    const kinds = rules.refusedKinds
    this.#kinds = new Set(kinds.some((kind) => BY_SCRIPT.includes(kind)) ? [...kinds, ...BY_SCRIPT] : kinds)
  }

  /** Decides about one request. */
  evaluate(request: PageRequest): Decision {
    if (request.isPage) {
      this.#page = request.url
      return PASS
    }
    const decision = this.#decide(request)
    if (decision !== PASS) {
      this.refused += 1
      if (request.resourceType === 'Image' || request.resourceType === 'Document') this.refusedPlaces.add(request.url)
    }
    return decision
  }

  #decide(request: PageRequest): Decision {
    if (!/^https?:/.test(request.url) || this.#isAllowed(request.url)) return PASS
    // A blocked frame would show Chromium's error page.
    const refuse: Decision = request.resourceType === 'Document' ? 'empty' : 'refuse'
    if (this.#isRefused(request.url) || this.#kinds.has(toKind(request.resourceType))) return refuse
    if (this.#rules.thirdParty && siteOf(request.url) !== siteOf(this.#page)) return refuse
    if (this.#engines.length === 0) return PASS
    const parsed = Request.fromRawDetails({
      url: request.url,
      sourceUrl: request.documentUrl ?? this.#page,
      type: toRequestType(request.resourceType),
    })
    for (const engine of this.#engines) {
      const { match, filter } = engine.match(parsed)
      if (match) return filter?.isRedirect() && REPLACEABLE.has(request.resourceType) ? 'empty' : refuse
    }
    return PASS
  }
}

/** The browser distinguishes XHR and fetch too late, so both are blocked together. */
const BY_SCRIPT: readonly ResourceKind[] = ['xhr', 'fetch']

const KINDS: Readonly<Record<string, ResourceKind>> = {
  Document: 'document',
  Stylesheet: 'stylesheet',
  Image: 'image',
  Media: 'media',
  Font: 'font',
  Script: 'script',
  TextTrack: 'texttrack',
  XHR: 'xhr',
  Fetch: 'fetch',
  EventSource: 'eventsource',
  WebSocket: 'websocket',
  Manifest: 'manifest',
}

/** Converts a DevTools resource type to the options' kind. */
export const toKind = (resourceType: string): ResourceKind => KINDS[resourceType] ?? 'other'

/** Converts a DevTools resource type to the engine's type. */
function toRequestType(resourceType: string): RequestType {
  if (resourceType === 'Document') return 'sub_frame'
  if (resourceType === 'Ping') return 'ping'
  return toKind(resourceType)
}

// URL patterns of clients. Pure functions.

/** A pattern without a star matches anywhere in a URL: `example.com/ad` means `*example.com/ad*`. */
const widen = (pattern: string): string => (pattern.includes('*') ? pattern : `*${pattern}*`)

const toPieces = (pattern: string): string[] => pattern.split(/\*+/)

/** Codes of letters outside of ASCII, and of those that a URL may have without a code: letters, digits and `-._~`. */
const CODES = /(?:%[89a-f][\da-f])+|%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi

/** A URL or pattern as a reader writes it, so that letters are equal to their codes. */
const toReadable = (text: string): string =>
  text
    .replace(CODES, (codes) => {
      try {
        return decodeURIComponent(codes)
      } catch {
        return codes
      }
    })
    .normalize('NFC')
    .toLowerCase()

/** A URL as browsers send it, with an international host in Punycode, and with its letters. */
function spellingsOf(address: string): string[] {
  const host = URL.parse(address)?.hostname ?? ''
  return host.includes('xn--') ? [address, address.replace(host, domainToUnicode(host))] : [address]
}

/** Returns a function that tests whether a URL matches one of the patterns, ignoring case and whether letters are percent-encoded. Runs in linear time. */
export function createMatcher(patterns: readonly string[]): (address: string) => boolean {
  const wide = patterns.map(widen)
  const parts = wide.map((pattern) => toPieces(pattern.toLowerCase()))
  const encoded = wide.filter((pattern) => pattern.includes('%')).map((pattern) => toPieces(toReadable(pattern)))
  const fitsOne = (address: string, patterns: readonly string[][]) => patterns.some((pieces) => fits(address, pieces))
  return (address) =>
    fitsOne(address.toLowerCase(), parts) ||
    (encoded.length > 0 && spellingsOf(address).some((spelling) => fitsOne(toReadable(spelling), encoded)))
}

/** Matches the pieces between the stars in order. Uses no regular expression, which could take exponential time. */
function fits(address: string, pieces: readonly string[]): boolean {
  const first = pieces[0] ?? ''
  const last = pieces.at(-1) ?? ''
  if (pieces.length === 1) return address === first
  if (!address.startsWith(first) || address.length < first.length + last.length || !address.endsWith(last)) return false
  let place = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = address.indexOf(piece, place)
    if (found < 0 || found + piece.length > address.length - last.length) return false
    place = found + piece.length
  }
  return true
}
