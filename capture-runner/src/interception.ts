import type { CDPSession } from 'playwright-core'
import type { SignInPlan } from './plans/identity.ts'
import { answered } from './race.ts'
import { type HeldRequest, Requesters } from './requesters.ts'
import type { Tab } from './tab.ts'

// The one handler of held requests (decision 13), on only when an option needs it. It sits on a session of the browser, where each hop of a
// redirect is held by itself: Playwright's routes see a chain of redirects once, and would carry an Authorization header to where it leads.
// What the browser is to do differently is decided for each hop; whatever is not this page's goes on untouched.

type Headers = Readonly<Record<string, string>>

interface PausedRequest extends HeldRequest {
  requestId: string
  request: { url: string; headers: Headers }
  /** Of a request that follows a redirect. */
  redirectedRequestId?: string
}

interface AuthRequest {
  requestId: string
  authChallenge: { source?: string; origin: string }
}

/** Holds the page's requests until its context closes. */
export async function intercept(tab: Tab, plan: SignInPlan, signal: AbortSignal): Promise<void> {
  const browser = tab.context.browser()
  if (!browser) throw new Error('the context has no browser')
  const session = await answered(browser.newBrowserCDPSession(), signal)
  tab.context.once('close', () => void session.detach().catch(() => {}))
  const interception = new Interception(session, new Requesters(tab.session, tab.mainFrame), plan)
  session.on('Fetch.requestPaused', (held) => interception.pass(held))
  session.on('Fetch.authRequired', (asked) => interception.authenticate(asked))
  // What a service worker asks for is held nowhere.
  await answered(tab.session.send('Network.setBypassServiceWorker', { bypass: true }), signal)
  const handleAuthRequests = plan.basicAuth !== undefined
  await answered(session.send('Fetch.enable', { patterns: [{ urlPattern: '*' }], handleAuthRequests }), signal)
}

class Interception {
  readonly #session: CDPSession
  readonly #requesters: Requesters
  readonly #plan: SignInPlan
  /** Requests whose first 401 may be answered. */
  readonly #unanswered = new Set<string>()

  constructor(session: CDPSession, requesters: Requesters, plan: SignInPlan) {
    this.#session = session
    this.#requesters = requesters
    this.#plan = plan
  }

  /** Lets a request go on, with the headers that it may have. */
  pass(held: PausedRequest): void {
    const { requestId, request } = held
    const isOwn = this.#requesters.isOwn(held, this.#plan.origin)
    if (isOwn && this.#plan.basicAuth) this.#unanswered.add(requestId)
    const headers = isOwn ? addHeaders(request.headers, this.#plan.headers) : request.headers
    // Told in full for each hop after the first, which would inherit the headers of the hop before.
    const changes = isOwn || held.redirectedRequestId !== undefined ? { headers: toLines(headers) } : {}
    // The request may be gone by now.
    this.#session.send('Fetch.continueRequest', { requestId, ...changes }).catch(() => {})
  }

  /** Answers a 401 of the origin once; a second one means that the credentials are wrong, and is the page to be captured. */
  authenticate({ requestId, authChallenge }: AuthRequest): void {
    const { origin, basicAuth } = this.#plan
    const isOurs = authChallenge.source === 'Server' && authChallenge.origin === origin && this.#unanswered.delete(requestId)
    const answer = isOurs && basicAuth ? ({ response: 'ProvideCredentials', ...basicAuth } as const) : ({ response: 'CancelAuth' } as const)
    this.#session.send('Fetch.continueWithAuth', { requestId, authChallengeResponse: answer }).catch(() => {})
  }
}

const isAuthorization = (name: string): boolean => name.toLowerCase() === 'authorization'

/** Headers with some added, which replace those of the same name; but an Authorization that the page's own script wrote stays. */
export function addHeaders(own: Headers, added: Headers): Headers {
  const isSigned = Object.keys(own).some(isAuthorization)
  const more = Object.entries(added).filter(([name]) => !(isSigned && isAuthorization(name)))
  const replaced = new Set(more.map(([name]) => name.toLowerCase()))
  return Object.fromEntries([...Object.entries(own).filter(([name]) => !replaced.has(name.toLowerCase())), ...more])
}

const toLines = (headers: Headers) => Object.entries(headers).map(([name, value]) => ({ name, value }))
