import type { PageFunctions } from '../../../src/page/functions.ts'
import { queryAll, setStyle } from '../shared/dom.ts'

export const collapseBlocked: PageFunctions['collapseBlocked'] = (addresses) => {
  const refused = new Set(addresses)
  for (const element of queryAll(document, 'img, iframe, frame, embed') as HTMLImageElement[]) {
    if (refused.has(element.currentSrc || element.src)) setStyle(element, { display: 'none' })
  }
}
