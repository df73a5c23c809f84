import type { PageFunctions } from '../../../src/page/functions.ts'

/** The window takes its overflow from the root element, or from the body if the root element has none. */
export const hidesSides: PageFunctions['hidesSides'] = () => {
  const [root, body] = [document.documentElement, document.body].map((element) =>
    element ? getComputedStyle(element).overflowX : 'visible',
  )
  return /hidden|clip/.test((root === 'visible' ? body : root) ?? '')
}
