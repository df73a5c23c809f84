import type { Decision, PageRequest, RequestEvaluator } from '../blocking/request-evaluator.ts'
import { bypassServiceWorkers, type DevTools, type PageEvents } from '../browser/devtools.ts'
import { siteOf } from '../browser/site.ts'
import type { Tab } from '../browser/tab.ts'
import type { Refusal } from '../egress/refusal.ts'
import { SHARED_TYPES, type StoredResponse } from '../http-cache/policy.ts'
import type { SharedResponses } from '../http-cache/shared-responses.ts'
import type { SignInPlan } from '../plan/identity.ts'
import { refusalOf } from '../runtime/errors.ts'
import { awaitResponse } from '../runtime/race.ts'
import type { DocumentPolicy } from './document-policy.ts'

// The only handler of intercepted requests, active only if an option needs it. For options about requests it uses a browser session, which intercepts
// each hop of a redirect separately, and each gets its own decision. Otherwise the Authorization header would be forwarded to another origin. Requests
// of other pages continue unchanged.

type Headers = Readonly<Record<string, string>>

interface PausedRequest extends HeldRequest {
  requestId: string
  /** The request's id in Network events. */
  networkId?: string
  request: { method: string; url: string; headers: Headers }
  /** Set for a request that follows a redirect. */
  redirectedRequestId?: string
}

interface AuthRequest {
  requestId: string
  frameId: string
  authChallenge: { source?: string; origin: string }
}

/** What to do with the page's requests. */
interface InterceptionPlan {
  /** Headers and credentials for some of them. */
  signIn?: SignInPlan | undefined
  /** Decides which of them to block. */
  evaluator?: RequestEvaluator | undefined
  /** Serves some of them from the batch's cache. */
  shared?: SharedResponses | undefined
  /** Decides which documents the page and its frames may show. */
  documents?: DocumentPolicy | undefined
  /** Called when that refuses a document. */
  onRefusedDocument: (refusal: Refusal, isPage: boolean) => void
  /** Called when the browser refuses the headers of a request, with its reason. The request then fails. */
  onRefused: (reason: string) => void
}

/** What the page did not get, because it is of another origin or was opened by one. */
export interface SignInGaps {
  /** Loader ids of documents that were requested without the client's headers. */
  readonly bare: Set<string>
  /** Origins that asked for a password in vain. */
  readonly refused: Set<string>
}

/** Intercepts the page's requests until it closes. */
export async function intercept(tab: Tab, plan: InterceptionPlan, signal: AbortSignal): Promise<SignInGaps> {
  // The cache alone needs no browser session, because it serves only the page's own frames and no redirects.
  const isEvery = plan.signIn !== undefined || plan.evaluator !== undefined
  const isWide = isEvery || plan.documents !== undefined
  const session = isWide ? await awaitResponse(tab.openBrowserSession(), signal) : tab.session
  const interception = new Interception(
    session,
    new Requesters(tab.session, tab.mainFrame, plan.signIn?.scope === 'same_site' ? isSameSite : undefined),
    plan,
    tab.mainFrame,
  )
  session.on('Fetch.requestPaused', (held) => interception.pass(held))
  session.on('Fetch.authRequired', (request) => interception.authenticate(request))
  // Requests of a service worker cannot be intercepted.
  if (isWide) await awaitResponse(bypassServiceWorkers(tab.session), signal)
  plan.documents?.watchFrames((refusal) => plan.onRefusedDocument(refusal, true))
  const types = [...(plan.documents ? (['Document'] as const) : []), ...(plan.shared ? SHARED_TYPES : [])]
  const patterns = isEvery ? [{ urlPattern: '*' }] : types.map((resourceType) => ({ resourceType }))
  const handleAuthRequests = plan.signIn?.basicAuth !== undefined
  // The cache starts last, because its buffer settings replace earlier ones.
  const starting = [session.send('Fetch.enable', { patterns, handleAuthRequests }), plan.shared?.start()]
  await awaitResponse(Promise.all(starting), signal)
  return interception.gaps
}

const isSameSite: IsSame = (a, b) => a !== '' && siteOf(a) === siteOf(b)

class Interception {
  readonly #session: DevTools
  readonly #requesters: Requesters
  readonly #plan: InterceptionPlan
  readonly #mainFrame: string
  /** Requests that have not used the credentials for a 401 yet. */
  readonly #awaitingCredentials = new Set<string>()
  /** Requests that have used them. */
  readonly #signedIn = new Set<string>()
  readonly gaps: SignInGaps = { bare: new Set(), refused: new Set() }

  constructor(session: DevTools, requesters: Requesters, plan: InterceptionPlan, mainFrame: string) {
    this.#session = session
    this.#requesters = requesters
    this.#plan = plan
    this.#mainFrame = mainFrame
  }

  /** Continues a request with its headers, or blocks it. */
  pass(held: PausedRequest): void {
    const { documents } = this.#plan
    const refusal = held.resourceType === 'Document' ? documents?.findRefusal(held.request.url) : undefined
    if (documents && refusal) void this.#refuseDocument(held, documents, refusal)
    else this.#evaluate(held)
  }

  async #refuseDocument(held: PausedRequest, documents: DocumentPolicy, refusal: Refusal): Promise<void> {
    if (!(await documents.owns(held.frameId))) return this.#evaluate(held)
    this.#plan.onRefusedDocument(refusal, this.#isPage(held))
    this.#refuse(held, 'refuse')
  }

  #evaluate(held: PausedRequest): void {
    const { evaluator, signIn } = this.#plan
    const decision = evaluator?.evaluate(toPageRequest(held, this.#mainFrame)) ?? 'pass'
    if (decision !== 'pass') this.#refuse(held, decision)
    else this.#continue(held, signIn)
  }

  #refuse({ requestId, resourceType }: PausedRequest, decision: Exclude<Decision, 'pass'>): void {
    const sent =
      decision === 'refuse'
        ? this.#session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
        : this.#session.send('Fetch.fulfillRequest', { requestId, ...emptyResponse(resourceType) })
    sent.catch(() => {})
  }

  #continue(held: PausedRequest, signIn: SignInPlan | undefined): void {
    const { requestId, networkId, request } = held
    const isOwn = signIn !== undefined && (this.#requesters.isOwn(held, signIn.origin) || signIn.scope === 'all')
    if (isOwn && signIn.basicAuth) this.#awaitingCredentials.add(requestId)
    if (signIn && networkId !== undefined && this.#isPage(held)) this.gaps.bare[isOwn ? 'delete' : 'add'](networkId)
    const headers = isOwn ? addHeaders(request.headers, signIn.headers) : request.headers
    const stored = this.#isSignedIn(request.url) ? undefined : this.#plan.shared?.find(held, headers)
    if (stored) {
      this.#fulfill(held, stored)
      return
    }
    // After a redirect, set all headers explicitly, because the request would inherit those of the previous hop.
    const changes = isOwn || (signIn && held.redirectedRequestId !== undefined) ? { headers: toLines(headers) } : {}
    this.#session.send('Fetch.continueRequest', { requestId, ...changes }).catch((error: unknown) => {
      const refusal = refusalOf(error)
      // The request is gone.
      if (refusal === undefined) return
      this.#plan.onRefused(refusal)
      this.#session.send('Fetch.failRequest', { requestId, errorReason: 'Failed' }).catch(() => {})
    })
  }

  #isPage({ frameId, resourceType }: PausedRequest): boolean {
    return frameId === this.#mainFrame && resourceType === 'Document'
  }

  /** True if the browser may add credentials by itself, which are not in the headers here. */
  #isSignedIn(url: string): boolean {
    const { signIn } = this.#plan
    return signIn?.basicAuth !== undefined && new URL(url).origin === signIn.origin
  }

  #fulfill({ requestId, networkId }: PausedRequest, { headers, body }: StoredResponse): void {
    const response = { requestId, responseCode: 200, responseHeaders: [...headers], body: body.toString('base64') }
    this.#session.send('Fetch.fulfillRequest', response).catch(() => {
      // The request may be gone by now.
      if (networkId !== undefined) this.#plan.shared?.hits.delete(networkId)
      this.#session.send('Fetch.continueRequest', { requestId }).catch(() => {})
    })
  }

  /** Sends the credentials for the first 401 of the origin. After a second 401 they are wrong, and the page with the error is captured. */
  authenticate({ requestId, frameId, authChallenge }: AuthRequest): void {
    const { origin, basicAuth } = this.#plan.signIn ?? { origin: undefined, basicAuth: undefined }
    const isServer = authChallenge.source === 'Server'
    const isOurs = isServer && authChallenge.origin === origin && this.#awaitingCredentials.delete(requestId)
    if (isOurs) this.#signedIn.add(requestId)
    else if (isServer && frameId === this.#mainFrame && !this.#signedIn.has(requestId)) this.gaps.refused.add(authChallenge.origin)
    const response =
      isOurs && basicAuth ? ({ response: 'ProvideCredentials', ...basicAuth } as const) : ({ response: 'CancelAuth' } as const)
    this.#session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse: response }).catch(() => {})
  }
}

const toPageRequest = ({ frameId, resourceType, request }: PausedRequest, mainFrame: string): PageRequest => ({
  url: request.url,
  resourceType,
  isPage: resourceType === 'Document' && frameId === mainFrame,
  documentUrl: request.headers.Referer,
})

const emptyResponse = (resourceType: string) => ({
  responseCode: 200,
  responseHeaders: [
    { name: 'content-type', value: EMPTY_TYPES[resourceType] ?? 'text/plain' },
    { name: 'access-control-allow-origin', value: '*' },
  ],
  body: '',
})

const EMPTY_TYPES: Readonly<Record<string, string>> = { Document: 'text/html', Script: 'text/javascript', Stylesheet: 'text/css' }

const isAuthorization = (name: string): boolean => name.toLowerCase() === 'authorization'

/** Adds headers, replacing those of the same name. An Authorization header set by the page's own script stays. */
export function addHeaders(own: Headers, added: Headers): Headers {
  const isSigned = Object.keys(own).some(isAuthorization)
  const more = Object.entries(added).filter(([name]) => !(isSigned && isAuthorization(name)))
  const replaced = new Set(more.map(([name]) => name.toLowerCase()))
  return Object.fromEntries([...Object.entries(own).filter(([name]) => !replaced.has(name.toLowerCase())), ...more])
}

const toLines = (headers: Headers) => Object.entries(headers).map(([name, value]) => ({ name, value }))

// Determines which frame sends a request, for headers that are meant for one origin. The URL is not enough: a page of another origin, shown after a
// redirect or in a frame, may send requests to that origin, and must not get the client's credentials.

/** An intercepted request from `Fetch.requestPaused`. */
interface HeldRequest {
  frameId: string
  resourceType: string
  request: { url: string }
}

/** Whether two origins count as the same. An empty origin equals none. */
type IsSame = (a: string, b: string) => boolean

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
