import type { Box } from '../../../src/page/functions.ts'

/** The boxes of an element in the window. Elements with `display: contents` have no box but show their content. */
export function boxesOf(element: Element): DOMRect[] {
  if (getComputedStyle(element).display !== 'contents') return [...element.getClientRects()]
  const range = document.createRange()
  range.selectNodeContents(element)
  return [...range.getClientRects()]
}

/** The box in CSS pixels of the page. */
export const onPage = ({ x, y, width, height }: DOMRect): Box => ({ x: x + scrollX, y: y + scrollY, width, height })
