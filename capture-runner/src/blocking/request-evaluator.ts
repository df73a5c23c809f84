import { type FiltersEngine, Request, type RequestType } from '@ghostery/adblocker'
import type { ResourceKind } from '@tintype/crds/options/page/blocking'
import { siteOf } from '../browser/site.ts'
import type { RequestRules } from '../plan/blocking.ts'
import { createMatcher } from './patterns.ts'

/** A request of the page, as it is held. */
export interface AskedRequest {
  url: string
  /** DevTools' word for it, such as `Document` or `XHR`. */
  resourceType: string
  /** True for the document that is to be captured. */
  isPage: boolean
  /** Address of the document that asks; absent: the page. */
  asker: string | undefined
}

/** `empty`: answered without content, for what would show a broken frame or stop a script that counts on it. */
export type Decision = 'pass' | 'refuse' | 'empty'

/** What of a page is told apart from other documents: nothing of it is ever refused. */
const PASS: Decision = 'pass'
/** Resources that are answered rather than refused where a rule would have put something else in their place. */
const REPLACEABLE = new Set(['Script', 'XHR', 'Fetch', 'Stylesheet'])

/** Judges the requests of one capture. */
export class RequestEvaluator {
  /** Addresses of pictures and frames that were refused, whose places stay empty. */
  readonly refusedPlaces = new Set<string>()
  /** Number of requests refused. */
  refused = 0
  readonly #rules: RequestRules
  readonly #engines: readonly FiltersEngine[]
  readonly #isAllowed: (address: string) => boolean
  readonly #isRefused: (address: string) => boolean
  readonly #kinds: ReadonlySet<ResourceKind>
  /** Address of the page, which redirects may change. */
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
  evaluate(asked: AskedRequest): Decision {
    if (asked.isPage) {
      this.#page = asked.url
      return PASS
    }
    const decision = this.#decide(asked)
    if (decision !== PASS) {
      this.refused += 1
      if (asked.resourceType === 'Image' || asked.resourceType === 'Document') this.refusedPlaces.add(asked.url)
    }
    return decision
  }

  #decide(asked: AskedRequest): Decision {
    if (!/^https?:/.test(asked.url) || this.#isAllowed(asked.url)) return PASS
    // A frame that is refused would show the browser's own page about it.
    const refuse: Decision = asked.resourceType === 'Document' ? 'empty' : 'refuse'
    if (this.#isRefused(asked.url) || this.#kinds.has(toKind(asked.resourceType))) return refuse
    if (this.#rules.thirdParty && siteOf(asked.url) !== siteOf(this.#page)) return refuse
    if (this.#engines.length === 0) return PASS
    const request = Request.fromRawDetails({
      url: asked.url,
      sourceUrl: asked.asker ?? this.#page,
      type: toRequestType(asked.resourceType),
    })
    for (const engine of this.#engines) {
      const { match, filter } = engine.match(request)
      if (match) return filter?.isRedirect() && REPLACEABLE.has(asked.resourceType) ? 'empty' : refuse
    }
    return PASS
  }
}

/** The browser tells the two ways to ask by script apart too late. */
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

/** DevTools' word as the options have it. */
export const toKind = (resourceType: string): ResourceKind => KINDS[resourceType] ?? 'other'

/** DevTools' word as the engine has it. */
function toRequestType(resourceType: string): RequestType {
  if (resourceType === 'Document') return 'sub_frame'
  if (resourceType === 'Ping') return 'ping'
  return toKind(resourceType)
}
