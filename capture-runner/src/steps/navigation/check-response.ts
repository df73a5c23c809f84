import { siteOf } from '../../browser/site.ts'
import { callInPage } from '../../page/call.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { CaptureError } from '../../runtime/errors.ts'
import type { Step, Work } from '../step.ts'

/** Fails the capture for an HTTP status or a redirect that the client does not want. */
export const checkResponse: Step = {
  name: 'checkResponse',
  isWanted: ({ refusedStatuses, refusedRedirect }) => refusedStatuses !== undefined || refusedRedirect !== undefined,
  run: async (work) => {
    checkStatus(work)
    if (work.plan.refusedRedirect) {
      checkAddress(work.plan, await callInPage(work, 'readUrl'))
    }
  },
}

function checkStatus({ tab, plan }: Work): void {
  const { status } = tab.lifecycle.response ?? {}
  if (status === undefined || !plan.refusedStatuses?.some(({ from, to }) => status >= from && status <= to)) return
  throw new CaptureError('HTTP_ERROR', `the page returned status ${status}`)
}

/** @throws CaptureError CONTENT_RULE when the page redirected and the client does not allow it */
export function checkAddress({ url, refusedRedirect }: Pick<CapturePlan, 'url' | 'refusedRedirect'>, shown: string): void {
  const isElsewhere = refusedRedirect === 'always' ? withoutHash(url) !== withoutHash(shown) : siteOf(url) !== siteOf(shown)
  if (isElsewhere) throw new CaptureError('CONTENT_RULE', 'the page redirected to another URL')
}

const withoutHash = (url: string): string => new URL(url).href.split('#')[0] ?? ''
