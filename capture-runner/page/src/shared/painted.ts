// What an element paints, which may differ from its box: a box without height can have tall content, and a box as large as the window may paint nothing.

/** An area of the window in CSS pixels. */
export interface Area {
  left: number
  top: number
  right: number
  bottom: number
}

/** The area around all that the element and its content paint; undefined if they paint nothing. */
export function contentBoxOf(element: Element): Area | undefined {
  const boxes = [...paintedBoxesOf(element)]
  if (boxes.length === 0) return undefined
  return {
    left: Math.min(...boxes.map(({ left }) => left)),
    top: Math.min(...boxes.map(({ top }) => top)),
    right: Math.max(...boxes.map(({ right }) => right)),
    bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
  }
}

const REPLACED = /^(img|video|canvas|iframe|object|embed|input|textarea|select|button|meter|progress|svg|hr)$/

function* paintedBoxesOf(element: Element): Generator<Area> {
  const style = getComputedStyle(element)
  if (style.display === 'none' || style.opacity === '0') return
  if (style.visibility === 'visible' && (REPLACED.test(element.localName) || paintsItself(style))) {
    yield* [...element.getClientRects()].filter(isLarge)
  }
  if (/hidden|clip|auto|scroll/.test(style.overflow) && !isLarge(element.getBoundingClientRect())) return
  for (const node of (element.shadowRoot ?? element).childNodes) {
    if (node instanceof Element) yield* paintedBoxesOf(node)
    else if (node instanceof Text && style.visibility === 'visible' && node.data.trim() !== '') {
      const range = document.createRange()
      range.selectNodeContents(node)
      yield* [...range.getClientRects()].filter(isLarge)
    }
  }
  if (element instanceof HTMLSlotElement) for (const one of element.assignedElements()) yield* paintedBoxesOf(one)
}

const isLarge = ({ left, top, right, bottom }: Area): boolean => right - left > 0 && bottom - top > 0

function paintsItself({
  backgroundColor,
  backgroundImage,
  borderTopWidth,
  borderBottomWidth,
  borderLeftWidth,
  borderRightWidth,
  boxShadow,
}: CSSStyleDeclaration): boolean {
  const isClear = /^(transparent|rgba\(.*, 0\))$/.test(backgroundColor)
  const borders = [borderTopWidth, borderBottomWidth, borderLeftWidth, borderRightWidth]
  return !isClear || backgroundImage !== 'none' || boxShadow !== 'none' || borders.some((width) => Number.parseFloat(width) > 0)
}
