import type { DocumentFacts, PageFunctions } from '../../../src/page/functions.ts'
import { isInSight, isVisible } from '../shared/boxes.ts'
import { recall } from '../shared/state.ts'
import { foldText, readVisibleText } from '../shared/text.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

/** Words that look the same are the same. */
export const findBrokenRule: PageFunctions['findBrokenRule'] = ({ refusedWords, neededWords, refusedSelectors }, hasOwnCanvas) => {
  const shown = refusedWords.length + neededWords.length > 0 ? foldText(readVisibleText(hasOwnCanvas)) : ''
  for (const value of refusedWords) if (shown.includes(foldText(value))) return { rule: 'contains', value }
  for (const value of neededWords) if (!shown.includes(foldText(value))) return { rule: 'missing', value }
  const roots = refusedSelectors.length > 0 ? findRoots() : []
  for (const value of refusedSelectors) if (findMatches(value, roots).length > 0) return { rule: 'selector', value }
  return null
}

const TITLES =
  /^(just a moment|attention required! \| cloudflare|access to this page has been denied|pardon our interruption|ddos-guard|human verification|are you a robot|security check|robot check|verify(ing)? (that )?you are (a )?human)/i
const SIGNS = `
  #challenge-form, #challenge-running, #cf-challenge-running, #challenge-error-text, [src*="/cdn-cgi/challenge-platform/h/"], #px-captcha,
  [src*="captcha-delivery.com"], [src*="_Incapsula_Resource"], #sec-if-cpt-container, #captcha-container [src*="awswaf"],
  [src*="challenges.cloudflare.com/turnstile"]`

/**
 * Detects challenge pages of Cloudflare, DataDome, PerimeterX, Imperva, AWS and Akamai. A page with more text than such a page does not count. Reading
 * the text takes long on a large page, so it comes last.
 */
export const looksChallenged: PageFunctions['looksChallenged'] = () =>
  (TITLES.test(document.title.trim()) || document.querySelector(SIGNS) !== null) && readVisibleText().length < 1500

const CAPTCHAS = `
  iframe[src*="/recaptcha/"], iframe[src*="hcaptcha.com"], iframe[src*="challenges.cloudflare.com"], .g-recaptcha, .h-captcha, .cf-turnstile`

/** Forms by which a login or a captcha is recognized. A captcha on a page with more text than such a page does not count. */
export function findForms(): DocumentFacts['forms'] {
  // The wait for stability has searched the page for trees, which takes long on a large page.
  const roots = [...(recall('tintypeMotion')?.roots ?? findRoots())]
  const isShown = (selector: string) => findMatches(selector, roots).some((element) => isVisible(element) && isInSight(element))
  const found: DocumentFacts['forms'] = isShown('input[type=password]') ? ['password'] : []
  return isShown(CAPTCHAS) && readVisibleText().length < 1500 ? [...found, 'captcha'] : found
}

export const readUrl: PageFunctions['readUrl'] = () => location.href
