/** The matches of a selector in document order. */
export const findMatches = (selector: string): Element[] => [...document.querySelectorAll(selector)]

/** True if the element has a box that is not hidden. It may be outside of the window. */
export const isVisible = (element: Element): boolean =>
  element.getClientRects().length > 0 && getComputedStyle(element).visibility === 'visible'

/** The visible matches of a selector in document order. */
export const findVisible = (selector: string): Element[] => findMatches(selector).filter(isVisible)
