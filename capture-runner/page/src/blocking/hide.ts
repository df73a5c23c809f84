import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/style.ts'

export const collapseBlocked: PageFunctions['collapseBlocked'] = (addresses) => {
  const refused = new Set(addresses)
  for (const element of document.querySelectorAll<HTMLImageElement>('img, iframe, frame, embed')) {
    if (refused.has(element.currentSrc || element.src)) setStyle(element, { display: 'none' })
  }
}

/** Classes by which pages lock themselves for a banner. */
const LOCKED = /(modal|consent|cookie|cmp|noscroll|no-scroll|scroll-lock|overflow-hidden|didomi|sp-message|freeze)/i

export const unlockScrolling: PageFunctions['unlockScrolling'] = () => {
  for (const element of [document.documentElement, document.body]) {
    if (!element) continue
    const { overflowY, position } = getComputedStyle(element)
    if (overflowY !== 'hidden' || !LOCKED.test(element.className)) continue
    setStyle(element, { overflow: 'visible' })
    if (position === 'fixed') setStyle(element, { position: 'static' })
  }
}
