import type { AskedRequest, Decision, RequestEvaluator } from '../blocking/request-evaluator.ts'
import { type DevTools, directly } from '../browser/devtools.ts'
import { bypassServiceWorkers } from '../browser/page-events.ts'
import { siteOf } from '../browser/site.ts'
import type { Tab } from '../browser/tab.ts'
import { SHARED_TYPES, type StoredResponse } from '../http-cache/policy.ts'
import type { SharedResponses } from '../http-cache/shared-responses.ts'
import type { SignInPlan } from '../plan/identity.ts'
import { answered } from '../runtime/race.ts'
import { type HeldRequest, type IsSame, Requesters } from './requesters.ts'

// The one handler of held requests, on only when an option needs it. Options about requests have it sit on a session of the browser, where each hop of a
// redirect is held by itself: Playwright's routes see a chain of redirects once, and would carry an Authorization header to where it leads.
// What the browser is to do differently is decided for each hop; whatever is not this page's goes on untouched.

type Headers = Readonly<Record<string, string>>

interface PausedRequest extends HeldRequest {
  requestId: string
  /** The request's id in events of the network. */
  networkId?: string
  request: { method: string; url: string; headers: Headers }
  /** Of a request that follows a redirect. */
  redirectedRequestId?: string
}

interface AuthRequest {
  requestId: string
  authChallenge: { source?: string; origin: string }
}

/** What is done about the page's requests. */
export interface InterceptionPlan {
  /** Headers and credentials that some of them get. */
  signIn?: SignInPlan | undefined
  /** Who decides which of them are made. */
  evaluator?: RequestEvaluator | undefined
  /** What is answered from the cache of the batch. */
  shared?: SharedResponses | undefined
}

/** Holds the page's requests until it closes. */
export async function intercept(tab: Tab, plan: InterceptionPlan, signal: AbortSignal): Promise<void> {
  // A cache alone needs no session of the browser: it answers the page's own frames only, and leaves redirects alone.
  const isEvery = plan.signIn !== undefined || plan.evaluator !== undefined
  const session = isEvery ? await openBrowserSession(tab, signal) : tab.session
  const interception = new Interception(
    session,
    new Requesters(tab.events, tab.mainFrame, plan.signIn?.scope === 'same_site' ? isSameSite : undefined),
    plan,
    tab.mainFrame,
  )
  session.on('Fetch.requestPaused', (held) => interception.pass(held))
  session.on('Fetch.authRequired', (asked) => interception.authenticate(asked))
  // What a service worker asks for is held nowhere.
  if (isEvery) await answered(bypassServiceWorkers(tab.session), signal)
  const patterns = isEvery ? [{ urlPattern: '*' }] : SHARED_TYPES.map((resourceType) => ({ resourceType }))
  const handleAuthRequests = plan.signIn?.basicAuth !== undefined
  // The cache starts last: what it says of the browser's buffers replaces what was said before.
  const starting = [session.send('Fetch.enable', { patterns, handleAuthRequests }), plan.shared?.start()]
  await answered(Promise.all(starting), signal)
}

async function openBrowserSession(tab: Tab, signal: AbortSignal): Promise<DevTools> {
  const held = await answered(tab.browser.newBrowserCDPSession(), signal)
  tab.ended.addEventListener('abort', () => void held.detach().catch(() => {}), { once: true })
  return directly(held)
}

const isSameSite: IsSame = (a, b) => a !== '' && siteOf(a) === siteOf(b)

class Interception {
  readonly #session: DevTools
  readonly #requesters: Requesters
  readonly #plan: InterceptionPlan
  readonly #mainFrame: string
  /** Requests whose first 401 may be answered. */
  readonly #unanswered = new Set<string>()

  constructor(session: DevTools, requesters: Requesters, plan: InterceptionPlan, mainFrame: string) {
    this.#session = session
    this.#requesters = requesters
    this.#plan = plan
    this.#mainFrame = mainFrame
  }

  /** Lets a request go on, with the headers that it may have, unless it is refused. */
  pass(held: PausedRequest): void {
    const { evaluator, signIn } = this.#plan
    const decision = evaluator?.evaluate(toAsked(held, this.#mainFrame)) ?? 'pass'
    if (decision !== 'pass') this.#refuse(held, decision)
    else this.#continue(held, signIn)
  }

  #refuse({ requestId, resourceType }: PausedRequest, decision: Exclude<Decision, 'pass'>): void {
    const answer =
      decision === 'refuse'
        ? this.#session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' })
        : this.#session.send('Fetch.fulfillRequest', { requestId, ...emptyAnswer(resourceType) })
    answer.catch(() => {})
  }

  #continue(held: PausedRequest, signIn: SignInPlan | undefined): void {
    const { requestId, request } = held
    const isOwn = signIn !== undefined && (this.#requesters.isOwn(held, signIn.origin) || signIn.scope === 'all')
    if (isOwn && signIn.basicAuth) this.#unanswered.add(requestId)
    const headers = isOwn ? addHeaders(request.headers, signIn.headers) : request.headers
    const stored = this.#isSignedIn(request.url) ? undefined : this.#plan.shared?.find(held, headers)
    if (stored) {
      this.#fulfill(held, stored)
      return
    }
    // Told in full for each hop after the first, which would inherit the headers of the hop before.
    const changes = isOwn || (signIn && held.redirectedRequestId !== undefined) ? { headers: toLines(headers) } : {}
    // The request may be gone by now.
    this.#session.send('Fetch.continueRequest', { requestId, ...changes }).catch(() => {})
  }

  /** True when the browser may add credentials of its own accord, which are not among the headers here. */
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

  /** Answers a 401 of the origin once; a second one means that the credentials are wrong, and is the page to be captured. */
  authenticate({ requestId, authChallenge }: AuthRequest): void {
    const { origin, basicAuth } = this.#plan.signIn ?? { origin: undefined, basicAuth: undefined }
    const isOurs = authChallenge.source === 'Server' && authChallenge.origin === origin && this.#unanswered.delete(requestId)
    const answer = isOurs && basicAuth ? ({ response: 'ProvideCredentials', ...basicAuth } as const) : ({ response: 'CancelAuth' } as const)
    this.#session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse: answer }).catch(() => {})
  }
}

const toAsked = ({ frameId, resourceType, request }: PausedRequest, mainFrame: string): AskedRequest => ({
  url: request.url,
  resourceType,
  isPage: resourceType === 'Document' && frameId === mainFrame,
  asker: request.headers.Referer,
})

const emptyAnswer = (resourceType: string) => ({
  responseCode: 200,
  responseHeaders: [
    { name: 'content-type', value: EMPTY_TYPES[resourceType] ?? 'text/plain' },
    { name: 'access-control-allow-origin', value: '*' },
  ],
  body: '',
})

const EMPTY_TYPES: Readonly<Record<string, string>> = { Document: 'text/html', Script: 'text/javascript', Stylesheet: 'text/css' }

const isAuthorization = (name: string): boolean => name.toLowerCase() === 'authorization'

/** Headers with some added, which replace those of the same name; but an Authorization that the page's own script wrote stays. */
export function addHeaders(own: Headers, added: Headers): Headers {
  const isSigned = Object.keys(own).some(isAuthorization)
  const more = Object.entries(added).filter(([name]) => !(isSigned && isAuthorization(name)))
  const replaced = new Set(more.map(([name]) => name.toLowerCase()))
  return Object.fromEntries([...Object.entries(own).filter(([name]) => !replaced.has(name.toLowerCase())), ...more])
}

const toLines = (headers: Headers) => Object.entries(headers).map(([name, value]) => ({ name, value }))
