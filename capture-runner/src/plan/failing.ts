import type { EffectiveOptions } from '@tintype/crds/options/catalogue'

/** Statuses from one to another, both included. */
export interface StatusRange {
  from: number
  to: number
}

/** When the capture counts as failed. Absent: not for this. */
export interface FailingPlan {
  refusedStatuses?: readonly StatusRange[]
  refusedRedirect?: 'cross_site' | 'always'
  /** What the page must show, and must not. */
  content?: { refusedWords: readonly string[]; neededWords: readonly string[]; refusedSelectors: readonly string[] }
  /** Patterns of addresses whose requests must not fail. */
  neededRequests?: readonly string[]
  failOnScriptError: boolean
  failOnPageError?: true
  failOnBotChallenge?: true
}

/** Works out when the capture counts as failed. */
export function buildFailing(options: EffectiveOptions): FailingPlan {
  const content = {
    refusedWords: options.failIfContentContains ?? [],
    neededWords: options.failIfContentMissing ?? [],
    refusedSelectors: options.failIfSelectorPresent ?? [],
  }
  const isJudged = Object.values(content).some((list) => list.length > 0)
  const { failOnStatus = [], failIfRequestFailed = [], failOnRedirect } = options
  return {
    ...(failOnStatus.length > 0 ? { refusedStatuses: failOnStatus.map(toStatusRange) } : {}),
    ...(failOnRedirect === 'never' ? {} : { refusedRedirect: failOnRedirect }),
    ...(isJudged ? { content } : {}),
    ...(failIfRequestFailed.length > 0 ? { neededRequests: failIfRequestFailed } : {}),
    failOnScriptError: options.failOnScriptError,
    ...(options.failOnPageError ? { failOnPageError: true } : {}),
    ...(options.failOnBotChallenge ? { failOnBotChallenge: true } : {}),
  }
}

/** `404`, `500-511`. */
function toStatusRange(text: string): StatusRange {
  const [from = 0, to = from] = text.split('-').map(Number)
  return { from, to }
}
