import type { PageFunctions } from '../../../src/page/functions.ts'
import { scrollingElement } from '../shared/scrolling.ts'
import { type PinnedHeights, recall, remember } from '../shared/state.ts'
import { setStyle } from '../shared/style.ts'

const HEIGHT = 'data-tintype-height'

/** Pins elements as tall as the window before a script can see another window. */
export const prepareReveal: PageFunctions['prepareReveal'] = (maxElements) => {
  const all = [...document.querySelectorAll('*')].slice(0, maxElements)
  for (const element of all) showSkipped(element)
  const windowHeight = innerHeight
  const isPart = (element: Element): element is HTMLElement =>
    element instanceof HTMLElement && element !== document.documentElement && element !== document.body
  const pinned = new Map<HTMLElement, number>()
  const pin = createPin(pinned, windowHeight)
  const heights = new Map(all.filter(isPart).map((element) => [element, element.offsetHeight]))
  const pageHeight = scrollingElement().scrollHeight
  remember('tintypeHeights', { heights, pin, pinned, windowHeight })
  if (pageHeight > windowHeight) for (const [element, height] of heights) if (height === windowHeight) pin(element, height)
  return pageHeight
}

/** Makes content visible that the browser skips, and lets fixed backgrounds scroll. */
function showSkipped(element: Element): void {
  if (!(element as Partial<HTMLElement>).style) return
  const { contentVisibility, backgroundAttachment } = getComputedStyle(element)
  if (contentVisibility === 'auto') setStyle(element, { 'content-visibility': 'visible' })
  if (backgroundAttachment.includes('fixed')) setStyle(element, { 'background-attachment': 'scroll' })
}

/** Pins by rules of a style sheet, so that removing an attribute unpins an element. */
function createPin(pinned: Map<HTMLElement, number>, windowHeight: number): PinnedHeights['pin'] {
  const sheet = new CSSStyleSheet()
  document.adoptedStyleSheets.push(sheet)
  return (element, height) => {
    const { boxSizing, paddingTop, paddingBottom, borderTopWidth, borderBottomWidth } = getComputedStyle(element)
    const sides = boxSizing === 'border-box' ? [] : [paddingTop, paddingBottom, borderTopWidth, borderBottomWidth]
    const own = `${Math.max(
      0,
      sides.reduce((rest, side) => rest - Number.parseFloat(side), height),
    )}px`
    const rule =
      height > windowHeight
        ? `height: auto !important; min-height: ${own} !important`
        : `height: ${own} !important; min-height: 0 !important; max-height: ${own} !important`
    element.setAttribute(HEIGHT, String(pinned.size))
    sheet.insertRule(`[${HEIGHT}="${pinned.size}"] { ${rule} }`)
    pinned.set(element, height)
  }
}

const heightsOf = (): PinnedHeights => {
  const state = recall('tintypeHeights')
  if (!state) throw new Error('prepareReveal comes first')
  return state
}

/** Innermost elements come first. */
export const pinHeights: PageFunctions['pinHeights'] = () => {
  const { heights, pin } = heightsOf()
  for (const [element, height] of [...heights].reverse()) if (height > 0 && element.offsetHeight !== height) pin(element, height)
  dispatchEvent(new Event('scroll'))
  document.dispatchEvent(new Event('scroll', { bubbles: true }))
}

/** An element that a script shrank is pinned again. */
export const unpinHeights: PageFunctions['unpinHeights'] = (isAll) => {
  const { pinned, windowHeight } = heightsOf()
  const released = [...pinned]
    .filter(([, height]) => isAll || height > windowHeight)
    .map(([element, height]) => ({ element, height, number: element.getAttribute(HEIGHT) ?? '' }))
  for (const { element } of released) element.removeAttribute(HEIGHT)
  if (isAll) return
  const smaller = released.filter(({ element, height }) => element.offsetHeight < height)
  for (const { element, number } of smaller) element.setAttribute(HEIGHT, number)
}
