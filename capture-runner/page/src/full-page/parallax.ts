import type { PageFunctions } from '../../../src/page/functions.ts'
import { boxOf, parentOf, queryAll, read, scrollingElement, setStyle } from '../shared/dom.ts'
import { recall, remember, type Shift } from '../shared/state.ts'

// Scripts move some elements slower or faster than the page (parallax). In the tall window, and at the top of the page, such an element is far from where
// a reader sees it. So the sweep notes where it is at each position. A full page shows it as in the middle of the window.

/** Tolerated distance from the line through the first and the last position, in CSS pixels. */
const TOLERANCE = 2
/** Number of positions that show how an element moves. */
const MIN_POSITIONS = 3
/** Pixels per pixel of scroll. Below, an element does not move with the scroll. Above, it stands still in the window. */
const MIN_SLOPE = 0.01
const MAX_SLOPE = 0.9
/** Elements to note at each position. */
const MAX_ELEMENTS = 500
/** Elements whose style is searched at each position because of variables. */
const MAX_STYLES = 3_000

const matrixOf = (element: Element): DOMMatrix => new DOMMatrix(getComputedStyle(element).transform)

/** A length or a share in an inline style, such as `12px`, `30%` or `calc(50% - 12px)`. */
const VALUE = /^(calc\(-?[\d.]+% )?(?:([+-]) )?(-?[\d.]+)(px|%)(\)?)$/

const byProperty = (property: string, boxFor: (element: Element) => Element | null) => ({
  read: (element: Element) => {
    const [, , sign, number] = VALUE.exec(inlineValue(element, property)) ?? []
    return Number(number) * (sign === '-' ? -1 : 1)
  },
  write: (element: Element, value: number) => {
    const [, start = '', sign, , unit, end] = VALUE.exec(inlineValue(element, property)) ?? []
    setStyle(element, { [property]: `${start}${sign ? '+ ' : ''}${value}${unit}${end}`, transition: 'none' })
  },
  boxFor,
})

/** Empty for an element of XML, which has no style. */
function inlineValue(element: Element, property: string): string {
  const style = read(element as HTMLElement, 'style') as CSSStyleDeclaration | undefined
  return style?.getPropertyValue(property) ?? ''
}

const NAMES = ['transform', 'background', 'top', 'margin'] as const

/** How scripts move what an element shows: by what its inline style names, and in which box. A function, so that only the bundles that call it have it. */
const createKinds = () => ({
  transform: {
    read: (element: Element) => matrixOf(element).m42,
    write: (element: Element, pixels: number) => {
      const matrix = matrixOf(element)
      matrix.m42 = pixels
      setStyle(element, { transform: matrix.toString(), transition: 'none' })
    },
    boxFor: parentOf,
  },
  background: byProperty('background-position-y', (element) => element),
  top: byProperty('top', parentOf),
  margin: byProperty('margin-top', parentOf),
})

/** Elements that scripts may move, by their own style or by variables in it or in that of an element around them. */
function findMovable(name: (typeof NAMES)[number]): Element[] {
  const own = queryAll(document, `[style*="${name}"]`)
  if (name !== 'transform') return own
  const styled = queryAll(document, '[style*="--"], [style*="--"] *').slice(0, MAX_STYLES)
  const byVariable = styled.filter((element) => getComputedStyle(element).transform !== 'none')
  return [...new Set([...own, ...byVariable])]
}

export const noteShifts: PageFunctions['noteShifts'] = () => {
  const kinds = createKinds()
  const noted =
    recall('tintypeShifts') ?? remember('tintypeShifts', { transform: new Map(), background: new Map(), top: new Map(), margin: new Map() })
  for (const name of NAMES) {
    for (const element of findMovable(name).slice(0, MAX_ELEMENTS)) {
      const shifts = noted[name].get(element) ?? []
      if (shifts.at(-1)?.top !== scrollY) noted[name].set(element, [...shifts, { top: scrollY, pixels: kinds[name].read(element) }])
    }
  }
}

export const placeShifted: PageFunctions['placeShifted'] = () => {
  const kinds = createKinds()
  const end = (scrollingElement()?.scrollHeight ?? 0) - innerHeight
  for (const name of NAMES) {
    for (const [element, shifts] of recall('tintypeShifts')?.[name] ?? []) {
      const line = lineThrough(shifts)
      const container = kinds[name].boxFor(element)
      if (!line || !container) continue
      const { top, height } = boxOf(container)
      const position = Math.max(0, Math.min(end, top + scrollY + height / 2 - innerHeight / 2))
      kinds[name].write(element, line.start + line.slope * position)
    }
  }
}

/** The line on which all shifts are; undefined if there is none. */
function lineThrough(shifts: readonly Shift[]): { start: number; slope: number } | undefined {
  const [first, last] = [shifts[0], shifts.at(-1)]
  if (!first || !last || shifts.length < MIN_POSITIONS) return undefined
  const slope = (last.pixels - first.pixels) / (last.top - first.top)
  const start = first.pixels - slope * first.top
  const isMoving = Math.abs(slope) >= MIN_SLOPE && Math.abs(slope) <= MAX_SLOPE
  return isMoving && shifts.every(({ top, pixels }) => Math.abs(start + slope * top - pixels) <= TOLERANCE) ? { start, slope } : undefined
}
