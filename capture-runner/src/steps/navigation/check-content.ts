import type { CapturePlan } from '../../plan/plan.ts'
import { CaptureError } from '../../runtime/errors.ts'
import type { Step, Work } from '../step.ts'

const isWanted = ({ content, neededRequests, failOnPageError, failOnBotChallenge }: CapturePlan): boolean =>
  content !== undefined || neededRequests !== undefined || failOnPageError === true || failOnBotChallenge === true

/** Fails the capture for what the page shows, or does not, and for what went wrong in it. */
export const checkContent: Step = {
  name: 'checkContent',
  isWanted,
  run: async (work) => {
    const { plan, sight = {} } = work
    if (plan.failOnBotChallenge) await checkChallenge(work)
    if (sight.failedRequest !== undefined) throw new CaptureError('CONTENT_RULE', `a needed request failed: ${sight.failedRequest}`)
    if (sight.pageError !== undefined)
      throw new CaptureError('SCRIPT_ERROR', `a script of the page failed: ${sight.pageError.slice(0, 500)}`)
    if (plan.content) await checkRules(work, plan.content)
  },
}

interface Broken {
  rule: 'contains' | 'missing' | 'selector'
  value: string
}

const MESSAGES: Readonly<Record<Broken['rule'], string>> = {
  contains: 'the page shows',
  missing: 'the page does not show',
  selector: 'an element matches',
}

async function checkRules({ tab, signal }: Work, content: NonNullable<CapturePlan['content']>): Promise<void> {
  const broken = await tab.look<Broken | null>(findBroken(content), signal)
  if (broken) throw new CaptureError('CONTENT_RULE', `${MESSAGES[broken.rule]}: ${broken.value}`)
}

/** The first rule that is broken. Words are compared as they are shown, whatever their case and the white space between them. */
const findBroken = (content: NonNullable<CapturePlan['content']>): string => `(() => {
  const { refusedWords, neededWords, refusedSelectors } = ${JSON.stringify(content)}
  const plain = (text) => text.replace(/\\s+/g, ' ').toLowerCase()
  const shown = refusedWords.length + neededWords.length > 0 ? plain(document.body?.innerText ?? '') : ''
  for (const value of refusedWords) if (shown.includes(plain(value))) return { rule: 'contains', value }
  for (const value of neededWords) if (!shown.includes(plain(value))) return { rule: 'missing', value }
  for (const value of refusedSelectors) if (document.querySelector(value)) return { rule: 'selector', value }
  return null
})()`

async function checkChallenge({ tab, sight, signal }: Work): Promise<void> {
  if (sight?.isChallenged || (await tab.look<boolean>(LOOKS_CHALLENGED, signal))) {
    throw new CaptureError('BOT_CHALLENGE', 'the site shows a challenge instead of the page')
  }
}

/** By what the pages of Cloudflare, DataDome, PerimeterX, Imperva, AWS and Akamai are made of. A small form with a riddle beside content is none. */
const LOOKS_CHALLENGED = `(() => {
  const isShort = (document.body?.innerText ?? '').length < 1500
  const titles = /^(just a moment|attention required! \\| cloudflare|access to this page has been denied|pardon our interruption|ddos-guard|human verification|are you a robot)/i
  const signs = '#challenge-form, #challenge-running, #cf-challenge-running, #challenge-error-text, [src*="/cdn-cgi/challenge-platform/h/"], #px-captcha, '
    + '[src*="captcha-delivery.com"], [src*="_Incapsula_Resource"], #sec-if-cpt-container, #captcha-container [src*="awswaf"], [src*="challenges.cloudflare.com/turnstile"]'
  return isShort && (titles.test(document.title.trim()) || document.querySelector(signs) !== null)
})()`
