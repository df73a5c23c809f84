import { callInPage } from '../../page/call.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { addStyles } from '../injection/styles.ts'
import { enginesOf } from '../navigation/hold-requests.ts'
import type { Step, Work } from '../step.ts'
import { includeClosedRoots } from '../whole-page.ts'

/** Maximum number of names that select hiding rules. Beyond it, a lookup would take longer than painting. */
const MAX_NAMES = 20_000

const isWanted = ({ hiding, guessBanners: isGuessing, requestRules }: CapturePlan): boolean =>
  hiding !== undefined || isGuessing === true || requestRules !== undefined

/** Hides elements by filter lists (advertisements, banners and the like), the empty boxes of blocked requests, and guessed banners. */
export const hideUnwanted: Step = { name: 'hideUnwanted', isWanted, onFailure: 'warn', run: (work) => hide(work) }

/** Runs again shortly before the screenshot, because banners appear last. */
export const hideLatecomers: Step = { name: 'hideLatecomers', isWanted, onFailure: 'warn', run: (work) => hide(work) }

async function hide(work: Work): Promise<void> {
  const { tab, plan, evaluator, signal } = work
  const { document } = tab.lifecycle
  try {
    if (plan.hiding) {
      const { findHidingRules } = await import('../../blocking/hiding.ts')
      const engines = await enginesOf(work, plan.hiding)
      await addStyles(work, findHidingRules(engines, await callInPage(work, 'readPageFacts', MAX_NAMES)))
    }
    if (evaluator && evaluator.refusedPlaces.size > 0) await callInPage(work, 'collapseBlocked', [...evaluator.refusedPlaces])
    const { guessBanners: isGuessing = false, bannerAction } = plan
    if (isGuessing || bannerAction) {
      await includeClosedRoots(work)
      await callInPage(work, 'hideBanners', !isGuessing)
      await callInPage(work, 'unlock')
    }
  } catch (error) {
    signal.throwIfAborted()
    // The document was replaced: settle waits for the new one, and hideLatecomers handles it.
    if (!tab.lifecycle.isMoving && tab.lifecycle.document === document) throw error
  }
}
