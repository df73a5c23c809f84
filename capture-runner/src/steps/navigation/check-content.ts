import type { CapturePlan } from '../../plan/plan.ts'
import { CaptureError } from '../../runtime/errors.ts'
import type { Step, Work } from '../step.ts'

const isWanted = ({ content, neededRequests, failOnPageError, failOnBotChallenge }: CapturePlan): boolean =>
  content !== undefined || neededRequests !== undefined || failOnPageError === true || failOnBotChallenge === true

/** Fails the capture because of content that is present or missing, a script error, a failed request or a bot challenge. */
export const checkContent: Step = {
  name: 'checkContent',
  isWanted,
  run: async (work) => {
    const { plan, problems = {} } = work
    if (plan.failOnBotChallenge) await checkChallenge(work)
    if (problems.failedRequest !== undefined) throw new CaptureError('CONTENT_RULE', `a required request failed: ${problems.failedRequest}`)
    if (problems.pageError !== undefined)
      throw new CaptureError('SCRIPT_ERROR', `a script of the page failed: ${problems.pageError.slice(0, 500)}`)
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
  const broken = await tab.evaluate<Broken | null>(findBroken(content), signal)
  if (broken) throw new CaptureError('CONTENT_RULE', `${MESSAGES[broken.rule]}: ${broken.value}`)
}

/** Returns the first rule that the page violates. Compares visible text regardless of case and white space. */
const findBroken = (content: NonNullable<CapturePlan['content']>): string => `(() => {
  const { refusedWords, neededWords, refusedSelectors } = ${JSON.stringify(content)}
  const plain = (text) => text.replace(/\\s+/g, ' ').toLowerCase()
  const shown = refusedWords.length + neededWords.length > 0 ? plain(document.body?.innerText ?? '') : ''
  for (const value of refusedWords) if (shown.includes(plain(value))) return { rule: 'contains', value }
  for (const value of neededWords) if (!shown.includes(plain(value))) return { rule: 'missing', value }
  for (const value of refusedSelectors) if (document.querySelector(value)) return { rule: 'selector', value }
  return null
})()`

async function checkChallenge({ tab, problems, signal }: Work): Promise<void> {
  if (problems?.isChallenged || (await tab.evaluate<boolean>(LOOKS_CHALLENGED, signal))) {
    throw new CaptureError('BOT_CHALLENGE', 'the site shows a challenge instead of the page')
  }
}

/** Detects challenge pages, as JavaScript: those of Cloudflare, DataDome, PerimeterX, Imperva, AWS and Akamai. A page with more text than such a page does not count. */
export const LOOKS_CHALLENGED = `(() => {
  const titles = /^(just a moment|attention required! \\| cloudflare|access to this page has been denied|pardon our interruption|ddos-guard|human verification|are you a robot|security check|robot check|verify(ing)? (that )?you are (a )?human)/i
  const signs = '#challenge-form, #challenge-running, #cf-challenge-running, #challenge-error-text, [src*="/cdn-cgi/challenge-platform/h/"], #px-captcha, '
    + '[src*="captcha-delivery.com"], [src*="_Incapsula_Resource"], #sec-if-cpt-container, #captcha-container [src*="awswaf"], [src*="challenges.cloudflare.com/turnstile"]'
  // Reading the text takes long on a large page, so it comes last.
  return (titles.test(document.title.trim()) || document.querySelector(signs) !== null) && (document.body?.innerText ?? '').length < 1500
})()`

/** Finds visible forms by which a login or a captcha is recognized, as JavaScript. A captcha on a page with more text than such a page does not count. */
export const FORMS = `(() => {
  const isShown = (selector) => [...document.querySelectorAll(selector)].some((element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && element.getClientRects().length > 0)
  const captchas = 'iframe[src*="/recaptcha/"], iframe[src*="hcaptcha.com"], iframe[src*="challenges.cloudflare.com"], .g-recaptcha, .h-captcha, .cf-turnstile'
  const found = isShown('input[type=password]') ? ['password'] : []
  return isShown(captchas) && (document.body?.innerText ?? '').length < 1500 ? [...found, 'captcha'] : found
})()`
