import type { EffectiveOptions } from '@tintype/crds/options/catalog'
import { type StatusRange, toStatusRange } from '@tintype/crds/options/rules/status-ranges'

/** Conditions under which the capture fails. Absent: not checked. */
export interface FailingPlan {
  refusedStatuses?: readonly StatusRange[]
  refusedRedirect?: 'cross_site' | 'always'
  /** Required and forbidden content. */
  content?: { refusedWords: readonly string[]; neededWords: readonly string[]; refusedSelectors: readonly string[] }
  /** URL patterns of requests that must not fail. */
  neededRequests?: readonly string[]
  failOnScriptError: boolean
  failOnPageError?: true
  failOnBotChallenge?: true
}

/** Builds the plan for failure conditions. */
export function buildFailing(options: EffectiveOptions): FailingPlan {
  const content = {
    refusedWords: options.failIfContentContains ?? [],
    neededWords: options.failIfContentMissing ?? [],
    refusedSelectors: options.failIfSelectorPresent ?? [],
  }
  const hasContentRules = Object.values(content).some((list) => list.length > 0)
  const { failOnStatus = [], failIfRequestFailed = [], failOnRedirect } = options
  return {
    ...(failOnStatus.length > 0 ? { refusedStatuses: failOnStatus.map(toStatusRange) } : {}),
    ...(failOnRedirect === 'never' ? {} : { refusedRedirect: failOnRedirect }),
    ...(hasContentRules ? { content } : {}),
    ...(failIfRequestFailed.length > 0 ? { neededRequests: failIfRequestFailed } : {}),
    failOnScriptError: options.failOnScriptError,
    ...(options.failOnPageError ? { failOnPageError: true } : {}),
    ...(options.failOnBotChallenge ? { failOnBotChallenge: true } : {}),
  }
}
