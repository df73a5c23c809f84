import type { ScrollPlan } from '../../plan/preparing.ts'
import { findElement, firstVisible } from '../find-element.ts'
import type { Step } from '../step.ts'

/** Scrolls to the element or the position that the client named. */
export const placeWindow: Step = {
  name: 'placeWindow',
  isWanted: (plan) => plan.scroll !== undefined,
  run: async (work) => {
    const { scroll } = work.plan
    if (!scroll) return
    if ('selector' in scroll) await findElement(work, scroll.selector)
    await work.tab.evaluate(movement(scroll), work.signal)
  },
}

const movement = (scroll: ScrollPlan): string =>
  'selector' in scroll
    ? `(() => {
  ${firstVisible(scroll.selector)}?.scrollIntoView({ block: 'start', inline: 'nearest', behavior: 'instant' })
  scrollBy({ top: ${scroll.adjustTop}, left: 0, behavior: 'instant' })
})()`
    : `scrollTo({ left: ${scroll.x}, top: ${scroll.y}, behavior: 'instant' })`
