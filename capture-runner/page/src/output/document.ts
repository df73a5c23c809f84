import type { PageFunctions } from '../../../src/page/functions.ts'
import { findForms, looksChallenged } from '../navigation/content.ts'
import { attributeOf, call, setStyle } from '../shared/dom.ts'
import { readVisibleText, toSavedText } from '../shared/text.ts'
import { navigationTiming } from '../shared/timing.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

/** The matches are hidden while the text is read, before the browser paints. */
export const readText: PageFunctions['readText'] = (hidden = [], hasOwnCanvas = false) => {
  const roots = hidden.length > 0 ? findRoots() : []
  const styled = hidden
    .flatMap((selector) => findMatches(selector, roots))
    .map((element) => [element, attributeOf(element, 'style')] as const)
  for (const [element] of styled) setStyle(element, { visibility: 'hidden' })
  const text = toSavedText(readVisibleText(hasOwnCanvas))
  for (const [element, style] of styled.reverse()) {
    if (style === null) call(element, 'removeAttribute', 'style')
    else call(element, 'setAttribute', 'style', style)
  }
  return text
}

export const readDocumentFacts: PageFunctions['readDocumentFacts'] = () => ({
  hasBody: document.body !== null,
  title: document.title.toWellFormed(),
  url: location.href,
  status: navigationTiming()?.responseStatus ?? 0,
  isChallenged: looksChallenged(),
  forms: findForms(),
})
