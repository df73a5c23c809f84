import type { FormKind } from '@tintype/crds/kinds/comparison'
import { MARKUP_URL } from '@tintype/crds/options/page/source'
import type { Lifecycle } from '../../browser/lifecycle.ts'
import { SYNTHETIC_ADDRESS } from '../../plan/source.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { FORMS, LOOKS_CHALLENGED } from '../navigation/check-content.ts'
import type { Step } from '../step.ts'

const TITLE_LENGTH = 512
const URL_LENGTH = 8_192

interface Facts {
  hasBody: boolean
  title: string
  url: string
  status: number
  isChallenged: boolean
  forms: FormKind[]
}

/** Records title, URL and status of the captured page. */
export const metadata: Step = {
  name: 'metadata',
  run: async ({ tab, findings, signal }) => {
    const facts = await tab.evaluate<Facts>(FACTS, signal)
    noteBrokenResponse(tab.lifecycle, facts, findings.warnings)
    findings.pageTitle = facts.title.slice(0, TITLE_LENGTH)
    findings.finalUrl = (facts.url === SYNTHETIC_ADDRESS ? MARKUP_URL : facts.url).slice(0, URL_LENGTH)
    const status = tab.lifecycle.response?.status ?? facts.status
    if (status > 0) findings.httpStatus = status
    if (facts.isChallenged) findings.unfit = 'bot_challenge'
    findings.forms = facts.forms
    findings.isBrokenOff = tab.lifecycle.brokenOff !== undefined
  },
}

/** @throws CaptureError when the response broke off before any content, since the browser could not take a screenshot */
function noteBrokenResponse({ brokenOff }: Lifecycle, { hasBody }: Facts, warnings: string[]): void {
  if (brokenOff === undefined) return
  const how = brokenOff.replace(/^net::/, '')
  if (!hasBody) throw new CaptureError('NAVIGATION_FAILED', `the page’s response broke off before there was anything to show (${how})`)
  warnings.push(`the page’s response broke off, so the picture may not show all of it (${how})`)
}

const FACTS = `({
  hasBody: document.body !== null,
  title: String(document.title),
  url: location.href,
  status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0,
  isChallenged: ${LOOKS_CHALLENGED},
  forms: ${FORMS},
})`
