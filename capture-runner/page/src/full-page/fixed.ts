import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/style.ts'

export const hideFixed: PageFunctions['hideFixed'] = () => {
  for (const element of document.body?.querySelectorAll('*') ?? []) {
    if (/fixed|sticky/.test(getComputedStyle(element).position)) setStyle(element, { visibility: 'hidden' })
  }
}
