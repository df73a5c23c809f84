import type { Step } from '../step.ts'
import { shorten } from './syntax.ts'

/**
 * Covers the client's masked elements. Runs as the last step before the screenshot, after all steps that move or hide elements. In a PDF the
 * elements are hidden instead, because text below a box could be copied.
 */
export const mask: Step = {
  name: 'mask',
  isWanted: (plan) => plan.masked !== undefined,
  run: async ({ tab, plan, findings, signal }) => {
    if (!plan.masked) return
    const { selectors, color } = plan.masked
    const act = plan.pages ? `(${LEAVE_OUT})(${JSON.stringify(selectors)})` : `(${COVER})(${JSON.stringify({ selectors, color })})`
    const covered = await tab.evaluate<number[]>(act, signal)
    for (const [index, selector] of selectors.entries()) {
      if (covered[index] === 0) findings.warnings.push(`mask_selectors[${index}] matched no visible element: ${shorten(selector)}`)
    }
  },
}

/** The boxes of an element in the window, as JavaScript. Elements with `display: contents` have no box but show their content. */
export const BOXES = `(element) => {
  if (getComputedStyle(element).display !== 'contents') return [...element.getClientRects()]
  const range = document.createRange()
  range.selectNodeContents(element)
  return [...range.getClientRects()]
}`

/** Boxes in the browser's top layer, above any dialog of the page. Styled by properties, which no Content-Security-Policy blocks. */
const COVER = `({ selectors, color }) => {
  const boxesOf = ${BOXES}
  const layer = document.createElement('div')
  const style = (element, properties) => { for (const name in properties) element.style.setProperty(name, properties[name], 'important') }
  style(layer, { all: 'initial', position: 'absolute', left: '0', top: '0', width: '0', height: '0', overflow: 'visible', margin: '0', border: '0',
    padding: '0', 'pointer-events': 'none', 'z-index': '2147483647', display: 'block', background: 'none' })
  layer.popover = 'manual'
  document.documentElement.append(layer)
  try { layer.showPopover() } catch {}
  const origin = layer.getBoundingClientRect()
  return selectors.map((selector) => {
    const boxes = [...document.querySelectorAll(selector)].flatMap(boxesOf)
    for (const { left, top, width, height } of boxes) {
      const box = document.createElement('div')
      style(box, { position: 'absolute', display: 'block', left: left - origin.left + 'px', top: top - origin.top + 'px', width: width + 'px',
        height: height + 'px', background: color, margin: '0', border: '0', padding: '0' })
      layer.append(box)
    }
    return boxes.length
  })
}`

const LEAVE_OUT = `(selectors) => {
  const hide = (root) => {
    for (const element of root.querySelectorAll('*')) {
      element.style?.setProperty('visibility', 'hidden', 'important')
      if (element.shadowRoot) hide(element.shadowRoot)
    }
  }
  return selectors.map((selector) => {
    const elements = [...document.querySelectorAll(selector)]
    for (const element of elements) {
      element.style?.setProperty('visibility', 'hidden', 'important')
      hide(element)
      if (element.shadowRoot) hide(element.shadowRoot)
    }
    return elements.length
  })
}`
