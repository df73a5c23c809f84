import type { FormKind, UnfitReason } from '@tintype/crds/kinds/comparison'
import { isStatusIn, type StatusRange } from '@tintype/crds/options/rules/texts'

// Decides whether a picture shows the page, or something in its place that must not be compared. Pure functions.

const FIRST_ERROR_STATUS = 400
/** Parts of a host or a path that name a login. */
const LOGIN = /(^|[/_.-])(log[-_]?in|sign[-_]?in|sso|auth|authorize|authenticate|oauth2?|saml2?)([/_.?-]|$)/i

/** What a capture found. */
export interface PageFacts {
  /** Found by a step. */
  unfit?: UnfitReason | undefined
  httpStatus?: number | undefined
  finalUrl?: string | undefined
  forms?: readonly FormKind[] | undefined
  isBrokenOff?: boolean | undefined
}

/** The page as it should be: that of the earlier picture, or the URL of the request. */
export interface Expected {
  url: string
  /** Undefined: not known. */
  forms: readonly FormKind[] | undefined
}

/** Why a picture must not be compared; undefined: it shows the page. */
export function findUnfit(facts: PageFacts, expected: Expected, acceptedStatuses: readonly StatusRange[]): UnfitReason | undefined {
  const { unfit, httpStatus = 0, forms = [], isBrokenOff } = facts
  if (httpStatus >= FIRST_ERROR_STATUS && !isStatusIn(httpStatus, acceptedStatuses)) return 'http_error'
  if (unfit === 'bot_challenge' || isNew('captcha', forms, expected)) return 'bot_challenge'
  if (isBrokenOff) return 'broken_off'
  return isLogin(facts, expected) ? 'login' : unfit
}

const isNew = (kind: FormKind, forms: readonly FormKind[], expected: Expected): boolean =>
  forms.includes(kind) && expected.forms?.includes(kind) === false

/** A password field where there was none, or another final URL that names a login. */
function isLogin({ finalUrl, forms = [] }: PageFacts, expected: Expected): boolean {
  if (isNew('password', forms, expected)) return true
  if (finalUrl === undefined || placeOf(finalUrl) === placeOf(expected.url)) return false
  const isUnexpected = forms.includes('password') && expected.forms === undefined
  return isUnexpected || (LOGIN.test(placeOf(finalUrl)) && !LOGIN.test(placeOf(expected.url)))
}

/** Host and path: a query may differ from load to load. */
function placeOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { host, pathname } = new URL(url)
  return host + pathname.replace(/\/$/, '')
}
