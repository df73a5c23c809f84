// Whether the runs of a schedule show the page. A run that shows something else, such as an error page, is not compared. Pure.

import type { UnfitReason } from '@tintype/crds/kinds/comparison'
import type { RecentRun, StoredSchedule } from '@tintype/crds/kinds/screenshot-schedule'
import { type Condition, ConditionType, findCondition, toReason } from '@tintype/crds/schema/conditions'
import { byTime, type EndedRun } from './ended-run.ts'

const MEANINGS: Readonly<Record<UnfitReason, string>> = {
  blank: 'one color and almost nothing else',
  bot_challenge: 'a bot challenge or a captcha',
  http_error: 'an error page',
  login: 'a login form where there was none',
  broken_off: 'a page whose response broke off',
}

/** Runs that say whether the page is shown, the oldest first. */
const telling = (ended: readonly EndedRun[]): EndedRun[] =>
  ended
    .filter(({ outcome }) => outcome === 'completed')
    .sort(byTime)
    .reverse()

/** The run that decides the condition Fit; undefined: the condition stays as it is. */
export const fitnessOf = ({ spec }: Pick<StoredSchedule, 'spec'>, ended: readonly EndedRun[]): RecentRun | undefined =>
  spec.comparison ? telling(ended).at(-1) : undefined

/** The condition Fit. */
export const toFitCondition = ({ id, unfit }: RecentRun): Omit<Condition, 'lastTransitionTime'> => ({
  type: ConditionType.fit,
  ...(unfit === undefined
    ? { status: 'True', reason: 'PageShown', message: 'The last run shows the page.' }
    : { status: 'False', reason: toReason(unfit), message: `Run ${id} shows ${MEANINGS[unfit]}. It is not compared.` }),
})

/** Runs after which the condition has another status than before, the oldest first. */
export function findFitnessChanges({ spec, status }: Pick<StoredSchedule, 'spec' | 'status'>, ended: readonly EndedRun[]): RecentRun[] {
  if (!spec.comparison) return []
  let isFit = findCondition(status?.conditions, ConditionType.fit)?.status !== 'False'
  return telling(ended).filter(({ unfit }) => {
    const isChange = isFit !== (unfit === undefined)
    isFit = unfit === undefined
    return isChange
  })
}
