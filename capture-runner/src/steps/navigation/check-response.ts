import { siteOf } from '../../browser/site.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { CaptureError } from '../../runtime/errors.ts'
import type { Step, Work } from '../step.ts'

/** Fails the capture for a status or an address that the client does not want. */
export const checkAnswer: Step = {
  name: 'checkAnswer',
  isWanted: ({ refusedStatuses, refusedRedirect }) => refusedStatuses !== undefined || refusedRedirect !== undefined,
  run: async (work) => {
    checkStatus(work)
    if (work.plan.refusedRedirect) {
      checkAddress(work.plan, await work.tab.look<string>('location.href', work.signal))
    }
  },
}

function checkStatus({ tab, plan }: Work): void {
  const { status } = tab.lifecycle.response ?? {}
  if (status === undefined || !plan.refusedStatuses?.some(({ from, to }) => status >= from && status <= to)) return
  throw new CaptureError('HTTP_ERROR', `the page answered with status ${status}`)
}

/** @throws CaptureError CONTENT_RULE when the page has ended where it should not */
export function checkAddress({ url, refusedRedirect }: Pick<CapturePlan, 'url' | 'refusedRedirect'>, shown: string): void {
  const isElsewhere = refusedRedirect === 'always' ? withoutHash(url) !== withoutHash(shown) : siteOf(url) !== siteOf(shown)
  if (isElsewhere) throw new CaptureError('CONTENT_RULE', 'the page ended at another address')
}

const withoutHash = (url: string): string => new URL(url).href.split('#')[0] ?? ''
