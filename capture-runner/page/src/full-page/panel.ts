import type { PageFunctions } from '../../../src/page/functions.ts'
import { read, scrollingElement } from '../shared/dom.ts'
import { allElements, findRoots } from '../shared/tree.ts'

/** True for an element whose content is taller than its box and that scrolls it. */
export const scrollsDown = (element: Element): boolean =>
  read(element, 'scrollHeight') > read(element, 'clientHeight') + 1 && /auto|scroll|overlay/.test(getComputedStyle(element).overflowY)

export const scrollsInside: PageFunctions['scrollsInside'] = (minShare) => {
  const root = scrollingElement()
  if (!root || root.scrollHeight > innerHeight + 1) return false
  const isLarge = (element: Element) => read(element, 'clientWidth') * read(element, 'clientHeight') >= minShare * innerWidth * innerHeight
  return allElements(findRoots(false)).some(
    (element) =>
      element !== document.documentElement &&
      element !== document.body &&
      isLarge(element) &&
      scrollsDown(element) &&
      getComputedStyle(element).visibility === 'visible',
  )
}
