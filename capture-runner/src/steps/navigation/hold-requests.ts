import type { FilterLists } from '../../blocking/lists.ts'
import { bypassServiceWorkers } from '../../browser/devtools.ts'
import { describeRefusal, type Refusal } from '../../egress/refusal.ts'
import { SharedResponses } from '../../http-cache/shared-responses.ts'
import { toCall } from '../../page/call.ts'
import type { EngineName } from '../../plan/blocking.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { SYNTHETIC_ADDRESS } from '../../plan/source.ts'
import { DocumentPolicy } from '../../requests/document-policy.ts'
import { intercept } from '../../requests/interception.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { warnOnce } from './navigate.ts'

/** Intercepts requests to block some, add headers, check the hosts of documents, or serve them from the batch's cache. Each interception costs half a millisecond. */
export const holdRequests: Step = {
  name: 'holdRequests',
  isWanted: (plan) =>
    plan.requestRules !== undefined ||
    plan.bypassServiceWorkers === true ||
    plan.httpCache !== undefined ||
    plan.capturePolicy?.allowedHosts !== undefined ||
    addsHeaders(plan),
  run: async (work) => {
    const { tab, plan, findings, signal } = work
    const { requestRules: rules, signIn } = plan
    if (rules) {
      const { RequestEvaluator } = await import('../../blocking/request-evaluator.ts')
      work.evaluator = new RequestEvaluator(plan.url, rules, await enginesOf(work, rules.engines))
      if (rules.refusedKinds.includes('websocket')) await refuseWebSockets(work)
    }
    // This must come first: it sets the browser's buffer for bodies to 0, and the batch's cache sets a larger one later.
    if (plan.bypassServiceWorkers) await awaitResponse(bypassServiceWorkers(tab.session), signal)
    const shared = work.httpCache && new SharedResponses(tab, work.httpCache)
    work.sharedHits = shared?.hits
    const documents = documentPolicyOf(work)
    const interception = { signIn: addsHeaders(plan) ? signIn : undefined, evaluator: work.evaluator, shared, documents }
    if (Object.values(interception).every((part) => part === undefined)) return
    const onRefused = (reason: string) => {
      work.refusedHeaders ??= reason
      warnOnce(findings.warnings, `a request failed, because the browser refused its headers: ${reason}`)
    }
    const onRefusedDocument = (refusal: Refusal, isPage: boolean) => {
      tab.egress.refuse(refusal)
      if (isPage) work.fail(new CaptureError('URL_NOT_ALLOWED', describeRefusal(refusal)))
    }
    work.signInGaps = await intercept(tab, { ...interception, onRefused, onRefusedDocument }, signal)
  },
}

function documentPolicyOf({ tab, plan: { capturePolicy, markup, url } }: Work): DocumentPolicy | undefined {
  const { keyId, allowedHosts: hosts } = capturePolicy ?? {}
  if (keyId === undefined || hosts === undefined) return undefined
  const isOwn = markup !== undefined && url === SYNTHETIC_ADDRESS
  return new DocumentPolicy(tab, { keyId, hosts }, isOwn ? url : undefined)
}

const addsHeaders = ({ signIn }: CapturePlan): boolean =>
  signIn !== undefined && (signIn.basicAuth !== undefined || Object.keys(signIn.headers).length > 0)

/** DevTools cannot intercept the handshake of a WebSocket. The page gets sockets that fail as if no server were listening. */
const refuseWebSockets = ({ tab, signal }: Work) => awaitResponse(tab.addInitScript(toCall('refuseWebSockets')), signal)

/** @throws CaptureError INVALID_OPTIONS on a runner without filter lists */
export function assertLists({ lists }: Work): FilterLists {
  if (!lists) throw new CaptureError('INVALID_OPTIONS', 'this runner has no filter lists')
  return lists
}

/** The filter engines of a plan, loaded. */
export const enginesOf = (work: Work, names: readonly EngineName[]) => Promise.all(names.map((name) => assertLists(work).engine(name)))
