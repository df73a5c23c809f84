import type { PageFunctions } from '../../../src/page/functions.ts'
import { boxesOf } from '../shared/boxes.ts'
import { findMatches } from '../shared/matches.ts'
import { setStyle } from '../shared/style.ts'

const LAYER = {
  all: 'initial',
  position: 'absolute',
  left: '0',
  top: '0',
  width: '0',
  height: '0',
  overflow: 'visible',
  margin: '0',
  border: '0',
  padding: '0',
  'pointer-events': 'none',
  'z-index': '2147483647',
  display: 'block',
  background: 'none',
}
const BOX = { position: 'absolute', display: 'block', margin: '0', border: '0', padding: '0' }

/** Boxes in the browser's top layer, above any dialog of the page. Styled by properties, which no Content-Security-Policy blocks. */
export const coverMatches: PageFunctions['coverMatches'] = ({ selectors, color }) => {
  const layer = document.createElement('div')
  setStyle(layer, LAYER)
  layer.popover = 'manual'
  document.documentElement.append(layer)
  try {
    layer.showPopover()
  } catch {}
  const origin = layer.getBoundingClientRect()
  return selectors.map((selector) => {
    const boxes = findMatches(selector).flatMap(boxesOf)
    for (const { left, top, width, height } of boxes) {
      const box = document.createElement('div')
      const place = { left: left - origin.left, top: top - origin.top, width, height }
      const pixels = Object.entries(place).map(([name, value]) => [name, `${value}px`])
      setStyle(box, { ...BOX, ...Object.fromEntries(pixels), background: color })
      layer.append(box)
    }
    return boxes.length
  })
}

export const leaveOutMatches: PageFunctions['leaveOutMatches'] = (selectors) => {
  const hide = (element: Element) => {
    setStyle(element, { visibility: 'hidden' })
    hideIn(element)
    if (element.shadowRoot) hideIn(element.shadowRoot)
  }
  const hideIn = (root: ParentNode) => {
    for (const element of root.querySelectorAll('*')) {
      setStyle(element, { visibility: 'hidden' })
      if (element.shadowRoot) hideIn(element.shadowRoot)
    }
  }
  return selectors.map((selector) => {
    const elements = findMatches(selector)
    for (const element of elements) hide(element)
    return elements.length
  })
}
