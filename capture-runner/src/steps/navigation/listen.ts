import type { CapturePlan } from '../../plan/plan.ts'
import { Journal } from '../../requests/journal.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step } from '../step.ts'

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
