import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, call, isHtml, queryAll, read, scrollingElement, setStyle } from '../shared/dom.ts'
import { type PinnedHeights, recall, remember } from '../shared/state.ts'

const HEIGHT = 'data-tintype-height'

/** Pins elements as tall as the window before a script can see another window. */
export const prepareReveal: PageFunctions['prepareReveal'] = (maxElements) => {
  const all = queryAll(document, '*').slice(0, maxElements)
  for (const element of all) showSkipped(element)
  const windowHeight = innerHeight
  const isPart = (element: Element): element is HTMLElement =>
    isHtml(element) && element !== document.documentElement && element !== document.body
  const pinned = new Map<HTMLElement, number>()
  const pin = createPin(pinned, windowHeight)
  const heights = new Map(all.filter(isPart).map((element) => [element, read(element, 'offsetHeight')]))
  const pageHeight = scrollingElement()?.scrollHeight ?? 0
  remember('tintypeHeights', { heights, pin, pinned, windowHeight })
  if (pageHeight > windowHeight) for (const [element, height] of heights) if (height === windowHeight) pin(element, height)
  return pageHeight
}

/** Makes content visible that the browser skips, and lets fixed backgrounds scroll. */
function showSkipped(element: Element): void {
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
    call(element, 'setAttribute', HEIGHT, String(pinned.size))
    sheet.insertRule(`[${HEIGHT}="${pinned.size}"] { ${rule} }`)
    pinned.set(element, height)
  }
}

/** Innermost elements come first. In a document that has replaced the prepared one, nothing is pinned. */
export const pinHeights: PageFunctions['pinHeights'] = () => {
  const { heights, pin } = recall('tintypeHeights') ?? { heights: [], pin: () => {} }
  for (const [element, height] of [...heights].reverse()) if (height > 0 && read(element, 'offsetHeight') !== height) pin(element, height)
  dispatchEvent(new Event('scroll'))
  document.dispatchEvent(new Event('scroll', { bubbles: true }))
}

/** An element that a script shrank is pinned again. */
export const unpinHeights: PageFunctions['unpinHeights'] = (isAll) => {
  const { pinned, windowHeight } = recall('tintypeHeights') ?? { pinned: [], windowHeight: 0 }
  const released = [...pinned]
    .filter(([, height]) => isAll || height > windowHeight)
    .map(([element, height]) => ({ element, height, number: attributeOf(element, HEIGHT) ?? '' }))
  for (const { element } of released) call(element, 'removeAttribute', HEIGHT)
  if (isAll) return
  const smaller = released.filter(({ element, height }) => read(element, 'offsetHeight') < height)
  for (const { element, number } of smaller) call(element, 'setAttribute', HEIGHT, number)
}
