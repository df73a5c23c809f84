import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/dom.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

export const addSheet: PageFunctions['addSheet'] = (text) => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  document.adoptedStyleSheets.push(sheet)
}

export const hideInShadow: PageFunctions['hideInShadow'] = (selectors) => {
  const roots = findRoots()
  for (const element of selectors.flatMap((selector) => findMatches(selector, roots))) setStyle(element, { display: 'none' })
}
