import { callWithClosedRoots } from '../../blocking/closed-roots.ts'
import { guessBanners } from '../../blocking/guess-banners.ts'
import { type PageFacts, pageFacts } from '../../blocking/page-facts.ts'
import type { CapturePlan } from '../../plan/plan.ts'
import { addStyles } from '../injection/add-styles.ts'
import { enginesOf } from '../navigation/hold-requests.ts'
import type { Step, Work } from '../step.ts'

const isWanted = ({ hiding, guessBanners: isGuessing, requestRules }: CapturePlan): boolean =>
  hiding !== undefined || isGuessing === true || requestRules !== undefined

/** Hides elements by filter lists (advertisements, banners and the like), the empty boxes of blocked requests, and guessed banners. */
export const hideUnwanted: Step = { name: 'hideUnwanted', isWanted, run: (work) => hide(work) }

/** Runs again shortly before the screenshot, because banners appear last. */
export const hideLatecomers: Step = { name: 'hideLatecomers', isWanted, run: (work) => hide(work) }

async function hide(work: Work): Promise<void> {
  const { tab, plan, evaluator, signal } = work
  const { document } = tab.lifecycle
  try {
    if (plan.hiding) {
      const { findHidingRules } = await import('../../blocking/hiding.ts')
      const engines = await enginesOf(work, plan.hiding)
      const facts = await tab.evaluate<PageFacts>(pageFacts, signal)
      await addStyles(work, findHidingRules(engines, facts))
    }
    if (evaluator && evaluator.refusedPlaces.size > 0) await tab.evaluate(collapse([...evaluator.refusedPlaces]), signal)
    const { guessBanners: isGuessing = false, bannerAction } = plan
    if (isGuessing || bannerAction) await callWithClosedRoots(tab, guessBanners, !isGuessing, signal)
    if (plan.bannerAction) await tab.evaluate(UNLOCK, signal)
  } catch (error) {
    signal.throwIfAborted()
    // The document was replaced: settle waits for the new one, and hideLatecomers handles it.
    if (!tab.lifecycle.isMoving && tab.lifecycle.document === document) throw error
  }
}

/** Hides the broken images and empty frames of blocked requests. */
const collapse = (addresses: readonly string[]): string => `(() => {
  const refused = new Set(${JSON.stringify(addresses)})
  for (const element of document.querySelectorAll('img, iframe, frame, embed')) {
    if (refused.has(element.currentSrc || element.src)) element.style.setProperty('display', 'none', 'important')
  }
})()`

/** Restores scrolling in a page that was locked for a banner. */
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
