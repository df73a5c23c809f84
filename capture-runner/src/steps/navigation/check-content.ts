import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { isStatusIn, toStatusRange } from '@tintype/crds/options/rules/texts'
import { cutText } from '@tintype/crds/text/cut-text'
import { siteOf } from '../../browser/site.ts'
import { callInPage } from '../../page/call.ts'
import type { BrokenRule, ContentRules } from '../../page/functions.ts'
import { hasOwnCanvas } from '../../plan/picture.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { CaptureError } from '../../runtime/errors.ts'
import type { Step, Work } from '../step.ts'
import { includeClosedRoots } from '../whole-page.ts'
import { isWatched } from './watch-page.ts'

/** Undefined: there are no rules. */
function rulesOf({ options }: CapturePlan): ContentRules | undefined {
  const { failIfContentContains, failIfContentMissing, failIfSelectorPresent } = options
  if ((failIfContentContains ?? failIfContentMissing ?? failIfSelectorPresent) === undefined) return undefined
  return {
    refusedWords: failIfContentContains ?? [],
    neededWords: failIfContentMissing ?? [],
    refusedSelectors: failIfSelectorPresent ?? [],
  }
}

/** Fails the capture because of content that is present or missing, a script error, a failed request or a bot challenge. */
export const checkContent: Step = {
  name: 'checkContent',
  onFailure: 'repeat',
  isWanted: (plan) => isWatched(plan) || rulesOf(plan) !== undefined,
  run: async (work) => {
    const { plan, problems = {} } = work
    if (plan.options.failOnBotChallenge) await checkChallenge(work)
    if (problems.failedRequest !== undefined) throw new CaptureError('CONTENT_RULE', `a required request failed: ${problems.failedRequest}`)
    if (problems.pageError !== undefined)
      throw new CaptureError('SCRIPT_ERROR', `a script of the page failed: ${cutText(problems.pageError, 500)}`)
    const rules = rulesOf(plan)
    if (rules) await checkRules(work, rules)
  },
}

const MESSAGES: Readonly<Record<BrokenRule['rule'], string>> = {
  contains: 'the page shows',
  missing: 'the page does not show',
  selector: 'an element matches',
}

async function checkRules(work: Work, content: ContentRules): Promise<void> {
  await includeClosedRoots(work)
  const broken = await callInPage(work, 'findBrokenRule', content, hasOwnCanvas(work.plan.picture))
  if (broken) throw new CaptureError('CONTENT_RULE', `${MESSAGES[broken.rule]}: ${broken.value}`)
}

async function checkChallenge(work: Work): Promise<void> {
  if (work.problems?.isChallenged || (await callInPage(work, 'looksChallenged'))) {
    throw new CaptureError('BOT_CHALLENGE', 'the site shows a challenge instead of the page')
  }
}

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
