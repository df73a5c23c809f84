import type { PageFunctions } from '../../../src/page/functions.ts'
import { readVisibleText } from '../shared/text.ts'

/** Compares visible text regardless of case and white space. */
export const findBrokenRule: PageFunctions['findBrokenRule'] = ({ refusedWords, neededWords, refusedSelectors }) => {
  const plain = (text: string) => text.replace(/\s+/g, ' ').toLowerCase()
  const shown = refusedWords.length + neededWords.length > 0 ? plain(readVisibleText()) : ''
  for (const value of refusedWords) if (shown.includes(plain(value))) return { rule: 'contains', value }
  for (const value of neededWords) if (!shown.includes(plain(value))) return { rule: 'missing', value }
  for (const value of refusedSelectors) if (document.querySelector(value)) return { rule: 'selector', value }
  return null
}

const TITLES =
  /^(just a moment|attention required! \| cloudflare|access to this page has been denied|pardon our interruption|ddos-guard|human verification|are you a robot)/i
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
