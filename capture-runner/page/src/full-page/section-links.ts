import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, call, linkOf, nameOf, parentOf, queryAll } from '../shared/dom.ts'
import { recall, remember } from '../shared/state.ts'

/** A highlight is a class of the link or of an enclosing list item, or `aria-current`. */
export const noteSectionLinks: PageFunctions['noteSectionLinks'] = () => {
  const noted = remember('tintypeSectionLinks', new Map())
  for (const link of queryAll(document, 'a[*|href*="#"]')) {
    if (!pointsToSection(link)) continue
    for (
      let element: Element | null | undefined = link;
      element && (element === link || nameOf(element) === 'li');
      element = enclosingItemOf(element)
    ) {
      if (noted.has(element)) break
      noted.set(element, { class: attributeOf(element, 'class'), 'aria-current': attributeOf(element, 'aria-current') })
    }
  }
}

function enclosingItemOf(element: Element): Element | null {
  const parent = parentOf(element)
  return parent && call(parent, 'closest', 'li')
}

function pointsToSection(element: Element): boolean {
  const link = linkOf(element)
  if (!link || link.hash.length < 2 || link.pathname !== location.pathname || link.host !== location.host) return false
  try {
    return document.getElementById(decodeURIComponent(link.hash.slice(1))) !== null
  } catch {
    return false
  }
}

export const restoreSectionLinks: PageFunctions['restoreSectionLinks'] = () => {
  const changed: Element[] = []
  for (const [element, attributes] of recall('tintypeSectionLinks') ?? []) {
    for (const [name, value] of Object.entries(attributes)) {
      if (attributeOf(element, name) === value) continue
      if (value === null) call(element, 'removeAttribute', name)
      else call(element, 'setAttribute', name, value)
      changed.push(element)
    }
  }
  for (const element of changed) {
    for (const animation of call(element, 'getAnimations', { subtree: true })) if (animation instanceof CSSTransition) animation.finish()
  }
}
