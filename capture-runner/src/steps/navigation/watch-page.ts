import { createMatcher } from '../../blocking/request-evaluator.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { Journal } from '../../requests/journal.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { PageProblems, Step, Work } from '../step.ts'

export const isWatched = ({ options }: CapturePlan): boolean =>
  options.failIfRequestFailed !== undefined || options.failOnPageError || options.failOnBotChallenge

/** Starts to record problems, before the page opens, that may fail the capture. */
export const watchPage: Step = {
  name: 'watchPage',
  isWanted: isWatched,
  run: async (work) => {
    const { tab, plan } = work
    const { failIfRequestFailed, failOnPageError, failOnBotChallenge } = plan.options
    const problems: PageProblems = {}
    work.problems = problems
    if (failIfRequestFailed) noteFailedRequests(work, problems, failIfRequestFailed)
    if (failOnPageError) {
      const onError = (message: string) => {
        problems.pageError ??= message
      }
      await awaitResponse(tab.watchErrors(onError), work.signal)
    }
    if (failOnBotChallenge) {
      tab.session.on('Network.responseReceived', ({ frameId, type, response }) => {
        if (frameId === tab.mainFrame && type === 'Document') problems.isChallenged = isChallenge(response.headers)
      })
    }
  },
}

function noteFailedRequests({ tab }: Work, problems: PageProblems, patterns: readonly string[]): void {
  const isNeeded = createMatcher(patterns)
  const addresses = new Map<string, string>()
  tab.session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (isNeeded(request.url)) addresses.set(requestId, request.url)
    else addresses.delete(requestId)
  })
  const fail = (requestId: string) => {
    const address = addresses.get(requestId)
    if (address !== undefined) problems.failedRequest ??= address
  }
  tab.session.on('Network.loadingFailed', ({ requestId }) => fail(requestId))
  tab.session.on('Network.responseReceived', ({ requestId, response }) => {
    if (response.status >= 400) fail(requestId)
  })
}

/** Cloudflare marks its challenge pages with this header. */
const isChallenge = (headers: Readonly<Record<string, string>>): boolean =>
  Object.entries(headers).some(([name, value]) => name.toLowerCase() === 'cf-mitigated' && value === 'challenge')

const wantsDocuments = ({ options }: CapturePlan): boolean => options.metadataFinalUrl || options.metadataHttpResponseHeaders
const wantsRequests = ({ files }: CapturePlan): boolean => files.has('har')
const wantsConsole = ({ files }: CapturePlan): boolean => files.has('console')

/** Starts to record network events and console messages before the page opens. */
export const listen: Step = {
  name: 'listen',
  isWanted: (plan) => wantsDocuments(plan) || wantsRequests(plan) || wantsConsole(plan),
  run: async ({ tab, plan, findings, sharedHits, signal }) => {
    const journal = new Journal(sharedHits)
    findings.journal = journal
    if (wantsDocuments(plan) || wantsRequests(plan)) journal.followNetwork(tab.session, tab.mainFrame, wantsRequests(plan))
    if (!wantsConsole(plan)) return
    journal.followConsole(tab.session)
    await awaitResponse(Promise.all([tab.session.send('Runtime.enable'), tab.session.send('Log.enable')]), signal)
  },
}
