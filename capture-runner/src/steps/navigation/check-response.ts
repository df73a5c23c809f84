import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { isStatusIn, toStatusRange } from '@tintype/crds/options/rules/texts'
import { siteOf } from '../../browser/site.ts'
import { callInPage } from '../../page/call.ts'
import { CaptureError } from '../../runtime/errors.ts'
import type { Step, Work } from '../step.ts'

/** Fails the capture for an HTTP status or a redirect that the client does not want. */
export const checkResponse: Step = {
  name: 'checkResponse',
  isWanted: ({ options }) => options.failOnStatus !== undefined || options.failOnRedirect !== 'never',
  run: async (work) => {
    checkStatus(work)
    const { url, options } = work.plan
    if (options.failOnRedirect !== 'never') checkAddress(url, options.failOnRedirect, await callInPage(work, 'readUrl'))
  },
}

function checkStatus({ tab, plan }: Work): void {
  const { status } = tab.lifecycle.response ?? {}
  if (status === undefined || !isStatusIn(status, (plan.options.failOnStatus ?? []).map(toStatusRange))) return
  throw new CaptureError('HTTP_ERROR', `the page returned status ${status}`)
}

/** @throws CaptureError CONTENT_RULE when the page redirected and the client does not allow it */
export function checkAddress(url: string, refused: EffectiveOptions['failOnRedirect'], shown: string): void {
  const isElsewhere = refused === 'always' ? withoutHash(url) !== withoutHash(shown) : siteOf(url) !== siteOf(shown)
  if (isElsewhere) throw new CaptureError('CONTENT_RULE', 'the page redirected to another URL')
}

const withoutHash = (url: string): string => new URL(url).href.split('#')[0] ?? ''
