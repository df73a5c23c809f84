import { callWithClosedRoots } from '../../blocking/closed-roots.ts'
import { guessBanners } from '../../blocking/guess-banners.ts'
import { type PageFacts, pageFacts } from '../../blocking/page-facts.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { addStyles } from '../injection/add-styles.ts'
import { enginesOf } from '../navigation/hold-requests.ts'
import type { Step, Work } from '../step.ts'

const isWanted = ({ hiding, guessBanners: isGuessing, requestRules }: CapturePlan): boolean =>
  hiding !== undefined || isGuessing === true || requestRules !== undefined

/** Hides what the lists know to be an advertisement, a banner or the like, the empty places of what was refused, and what looks like a banner. */
export const hideUnwanted: Step = { name: 'hideUnwanted', isWanted, run: (work) => hide(work) }

/** Once more for what has come in the meantime: banners are shown when everything else is there. */
export const hideLatecomers: Step = { name: 'hideLatecomers', isWanted, run: (work) => hide(work) }

async function hide(work: Work): Promise<void> {
  const { tab, plan, evaluator, signal } = work
  const { document } = tab.lifecycle
  try {
    if (plan.hiding) {
      const { findHidingRules } = await import('../../blocking/hiding.ts')
      const engines = await enginesOf(work, plan.hiding)
      const facts = await tab.look<PageFacts>(pageFacts, signal)
      await addStyles(work, findHidingRules(engines, facts))
    }
    if (evaluator && evaluator.refusedPlaces.size > 0) await tab.look(collapse([...evaluator.refusedPlaces]), signal)
    const { guessBanners: isGuessing = false, bannerAction } = plan
    if (isGuessing || bannerAction) await callWithClosedRoots(tab, guessBanners, !isGuessing, signal)
    if (plan.bannerAction) await tab.look(UNLOCK, signal)
  } catch (error) {
    signal.throwIfAborted()
    // The document went away: settle waits for the next one, and hideLatecomers sees to it.
    if (!tab.lifecycle.isMoving && tab.lifecycle.document === document) throw error
  }
}

/** What was refused leaves no broken picture and no empty frame behind. */
const collapse = (addresses: readonly string[]): string => `(() => {
  const refused = new Set(${JSON.stringify(addresses)})
  for (const element of document.querySelectorAll('img, iframe, frame, embed')) {
    if (refused.has(element.currentSrc || element.src)) element.style.setProperty('display', 'none', 'important')
  }
})()`

/** A page that a banner held still can be scrolled again, once no banner covers it. */
const UNLOCK = `(() => {
  for (const element of [document.documentElement, document.body]) {
    if (!element) continue
    const { overflowY, position } = getComputedStyle(element)
    if (overflowY === 'hidden' && /(modal|consent|cookie|cmp|noscroll|no-scroll|scroll-lock|overflow-hidden|didomi|sp-message|freeze)/i.test(element.className)) {
      element.style.setProperty('overflow', 'visible', 'important')
      if (position === 'fixed') element.style.setProperty('position', 'static', 'important')
    }
  }
})()`
