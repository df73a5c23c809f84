import { MARKUP_URL } from '@tintype/crds/options/page/loading'
import { cutText } from '@tintype/crds/text/cut-text'
import type { Lifecycle } from '../../browser/lifecycle.ts'
import { callInPage } from '../../page/call.ts'
import type { DocumentFacts } from '../../page/functions.ts'
import { SYNTHETIC_ADDRESS } from '../../plan/source.ts'
import { CaptureError } from '../../runtime/errors.ts'
import type { Step } from '../step.ts'

const TITLE_LENGTH = 512
const URL_LENGTH = 8_192

/** Records title, URL and status of the captured page. */
export const metadata: Step = {
  name: 'metadata',
  onFailure: 'warn',
  run: async (work) => {
    const { tab, findings } = work
    const facts = await callInPage(work, 'readDocumentFacts')
    noteBrokenResponse(tab.lifecycle, facts, findings.warnings)
    findings.pageTitle = cutText(facts.title, TITLE_LENGTH)
    findings.finalUrl = cutText(facts.url === SYNTHETIC_ADDRESS ? MARKUP_URL : facts.url, URL_LENGTH)
    const status = tab.lifecycle.response?.status ?? facts.status
    if (status > 0) findings.httpStatus = status
    if (facts.isChallenged) findings.unfit = 'bot_challenge'
    findings.forms = facts.forms
    findings.isBrokenOff = tab.lifecycle.brokenOff !== undefined
  },
}

/** @throws CaptureError when the response broke off before any content, since the browser could not take a screenshot */
function noteBrokenResponse({ brokenOff }: Lifecycle, { hasBody }: DocumentFacts, warnings: string[]): void {
  if (brokenOff === undefined) return
  const how = brokenOff.replace(/^net::/, '')
  if (!hasBody) throw new CaptureError('NAVIGATION_FAILED', `the page’s response broke off before there was anything to show (${how})`)
  warnings.push(`the page’s response broke off, so the picture may not show all of it (${how})`)
}
