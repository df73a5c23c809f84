import { MARKUP_ADDRESS } from '@tintype/crds/capture-options/source'
import { SYNTHETIC_ADDRESS } from '../plans/source.ts'
import type { Step } from './step.ts'

const TITLE_LENGTH = 512
const URL_LENGTH = 8_192

interface Facts {
  title: string
  url: string
  status: number
}

/** Notes what page it was that the picture shows. */
export const metadata: Step = {
  name: 'metadata',
  run: async ({ tab, findings, signal }) => {
    const facts = await tab.look<Facts>(FACTS, signal)
    findings.pageTitle = facts.title.slice(0, TITLE_LENGTH)
    findings.finalUrl = (facts.url === SYNTHETIC_ADDRESS ? MARKUP_ADDRESS : facts.url).slice(0, URL_LENGTH)
    const status = tab.lifecycle.response?.status ?? facts.status
    if (status > 0) findings.httpStatus = status
  },
}

const FACTS = `({
  title: String(document.title),
  url: location.href,
  status: performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0,
})`
