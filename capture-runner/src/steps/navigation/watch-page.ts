import { createMatcher } from '../../blocking/patterns.ts'
import { pageOf } from '../../browser/tab.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import type { Sight, Step, Work } from '../step.ts'

const isWanted = ({ neededRequests, failOnPageError, failOnBotChallenge }: CapturePlan): boolean =>
  neededRequests !== undefined || failOnPageError === true || failOnBotChallenge === true

/** Begins to note, before the page is opened, what may make the capture count as failed. */
export const watchPage: Step = {
  name: 'watchPage',
  isWanted,
  run: async (work) => {
    const { tab, plan } = work
    const sight: Sight = {}
    work.sight = sight
    if (plan.neededRequests) noteFailedRequests(work, sight, plan.neededRequests)
    if (plan.failOnPageError) {
      pageOf(tab).once('pageerror', (error) => {
        sight.pageError = String(error?.message ?? error)
      })
    }
    if (plan.failOnBotChallenge) {
      tab.events.on('Network.responseReceived', ({ frameId, type, response }) => {
        if (frameId === tab.mainFrame && type === 'Document') sight.isChallenged = isChallenge(response.headers)
      })
    }
  },
}

function noteFailedRequests({ tab }: Work, sight: Sight, patterns: readonly string[]): void {
  const isNeeded = createMatcher(patterns)
  const addresses = new Map<string, string>()
  tab.events.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (isNeeded(request.url)) addresses.set(requestId, request.url)
    else addresses.delete(requestId)
  })
  const fail = (requestId: string) => {
    const address = addresses.get(requestId)
    if (address !== undefined) sight.failedRequest ??= address
  }
  tab.events.on('Network.loadingFailed', ({ requestId }) => fail(requestId))
  tab.events.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.status >= 400) fail(requestId)
  })
}

/** Cloudflare says so itself. */
const isChallenge = (headers: Readonly<Record<string, string>>): boolean =>
  Object.entries(headers).some(([name, value]) => name.toLowerCase() === 'cf-mitigated' && value === 'challenge')
