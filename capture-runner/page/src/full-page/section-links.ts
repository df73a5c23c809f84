import type { PageFunctions } from '../../../src/page/functions.ts'
import { recall, remember } from '../shared/state.ts'

/** A highlight is a class of the link or of an enclosing list item, or `aria-current`. */
export const noteSectionLinks: PageFunctions['noteSectionLinks'] = () => {
  const noted = remember('tintypeSectionLinks', new Map())
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[href*="#"]')) {
    if (!pointsToSection(link)) continue
    for (
      let element: Element | null | undefined = link;
      element && (element === link || element.localName === 'li');
      element = element.parentElement?.closest('li')
    ) {
      if (noted.has(element)) break
      noted.set(element, { class: element.getAttribute('class'), 'aria-current': element.getAttribute('aria-current') })
    }
  }
}

function pointsToSection(link: HTMLAnchorElement): boolean {
  if (link.hash.length < 2 || link.pathname !== location.pathname || link.host !== location.host) return false
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
      if (element.getAttribute(name) === value) continue
      if (value === null) element.removeAttribute(name)
      else element.setAttribute(name, value)
      changed.push(element)
    }
  }
  for (const element of changed) {
    for (const animation of element.getAnimations({ subtree: true })) if (animation instanceof CSSTransition) animation.finish()
  }
}
