import type { PageFunctions } from '../../../src/page/functions.ts'
import { setStyle } from '../shared/style.ts'

export const hideInShadow: PageFunctions['hideInShadow'] = (selectors) => {
  const hideIn = (root: ParentNode) => {
    for (const selector of selectors) {
      for (const element of root.querySelectorAll(selector)) setStyle(element, { display: 'none' })
    }
    for (const element of root.querySelectorAll('*')) if (element.shadowRoot) hideIn(element.shadowRoot)
  }
  hideIn(document)
}
