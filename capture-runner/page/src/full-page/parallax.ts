import type { PageFunctions } from '../../../src/page/functions.ts'
import { boxOf, call, parentOf, queryAll, scrollingElement, setStyle } from '../shared/dom.ts'
import { recall, remember, type Shift } from '../shared/state.ts'

// Scripts move some elements slower or faster than the page (parallax). In the tall window, and at the top of the page, such an element is far from where
// a reader sees it. So the sweep notes where it is at each position. A full page shows it as in the middle of the window, or as at the top of the page.

/** Tolerated distance from the line through the first and the last position, in CSS pixels. */
const TOLERANCE = 2
/** Number of positions that show how an element moves. */
const MIN_POSITIONS = 3
/** Pixels per pixel of scroll. Below, an element does not move with the scroll. Above, it stands still in the window. */
const MIN_SLOPE = 0.01
const MAX_SLOPE = 0.9
/** Share of the window up to which the box around an element shows where a reader sees it. */
const LARGE_SHARE = 1.5
/** Elements to note at each position. */
const MAX_ELEMENTS = 500
/** Elements whose style is searched at each position because of variables. */
const MAX_STYLES = 3_000

const matrixOf = (element: Element): DOMMatrix => new DOMMatrix(getComputedStyle(element).transform)

const NUMBER = /-?[\d.]+(e-?\d+)?/g

const byProperty = (property: string, boxFor: (element: Element) => Element | null) => ({
  read: (element: Element) => [...textOf(element, property).matchAll(NUMBER)].map(([number]) => Number(number)),
  write: (element: Element, values: readonly number[]) => {
    let index = 0
    setStyle(element, { [property]: textOf(element, property).replace(NUMBER, () => `${values[index++]}`), transition: 'none' })
  },
  boxFor,
})

/** A value such as `12px`, `30%, 10%` or `calc(50% + -12px)`. */
const textOf = (element: Element, property: string): string =>
  getComputedStyle(element).getPropertyValue(property).replaceAll(' - ', ' + -').replaceAll('--', '')

const NAMES = ['transform', 'background', 'top', 'margin'] as const

/** How scripts move what an element shows: by what its inline style names, and in which box. A function, so that only the bundles that call it have it. */
const createKinds = () => ({
  transform: {
    read: (element: Element) => [matrixOf(element).m42],
    write: (element: Element, [pixels = 0]: readonly number[]) => {
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

/** By what a variable may move an element. */
const USES: Readonly<Record<(typeof NAMES)[number], (style: CSSStyleDeclaration) => boolean>> = {
  transform: ({ transform }) => transform !== 'none',
  background: ({ backgroundImage, backgroundPositionY }) => backgroundImage !== 'none' && backgroundPositionY !== '0%',
  top: ({ position, top }) => position !== 'static' && top !== 'auto',
  margin: () => false,
}

/** Elements that scripts may move, by their own style or by variables in it or in that of an element around them. */
function findMovable(name: (typeof NAMES)[number], styled: readonly (readonly [Element, CSSStyleDeclaration])[]): Element[] {
  const byVariable = styled.flatMap(([element, style]) => (USES[name](style) ? [element] : []))
  return [...new Set([...queryAll(document, `[style*="${name}"]`), ...byVariable])]
}

export const noteShifts: PageFunctions['noteShifts'] = () => {
  const kinds = createKinds()
  const noted =
    recall('tintypeShifts') ?? remember('tintypeShifts', { transform: new Map(), background: new Map(), top: new Map(), margin: new Map() })
  const styled = queryAll(document, '[style*="--"], [style*="--"] *')
    .slice(0, MAX_STYLES)
    .map((element) => [element, getComputedStyle(element)] as const)
  for (const name of NAMES) {
    for (const element of findMovable(name, styled).slice(0, MAX_ELEMENTS)) {
      const shifts = noted[name].get(element) ?? []
      // An element in a transition is not where a script wants it.
      if (shifts.at(-1)?.top !== scrollY && call(element, 'getAnimations').length === 0)
        noted[name].set(element, [...shifts, { top: scrollY, values: kinds[name].read(element) }])
    }
  }
}

export const placeShifted: PageFunctions['placeShifted'] = () => {
  const kinds = createKinds()
  const end = (scrollingElement()?.scrollHeight ?? 0) - innerHeight
  const moved = NAMES.flatMap((name) =>
    [...(recall('tintypeShifts')?.[name] ?? [])].flatMap(([element, shifts]) => {
      const kind = kinds[name]
      const isBackground = name === 'background'
      const line = lineThrough(shifts, isBackground ? Number.POSITIVE_INFINITY : MAX_SLOPE)
      const container = kind.boxFor(element)
      const isLost = container && name === 'transform' && isMovedAway(element, container, shifts)
      if (!container || !(line || isLost || (isBackground && isChanged(shifts, kind.read(element))))) return []
      const at = (position: number) => line?.(position) ?? nearest(shifts, position)
      return { element, container, place: (position: number) => kind.write(element, at(position)) }
    }),
  )
  for (const { place } of moved) place(0)
  const atTop = moved.map(({ element, container }) => [boxOf(element), boxOf(container)] as const)
  for (const { place } of moved) place(innerHeight)
  const positions = moved.map(({ element }, index) => {
    const [own, around] = atTop[index]!
    // What a reader sees first is as at the top of the page. The top of a fixed element does not depend on the scroll.
    if (getComputedStyle(element).position === 'fixed' || middleOf(own) <= innerHeight / 2) return 0
    if (around.height <= innerHeight * LARGE_SHARE) return middleOf(around)
    // Nobody sees the middle of a tall container. The element itself moves while the reader scrolls to it.
    return middleOf(own) / Math.max(1 - MAX_SLOPE, 1 - (boxOf(element).top - own.top) / innerHeight)
  })
  for (const [index, { place }] of moved.entries()) place(Math.max(0, Math.min(end, positions[index]!)))
}

/** The scroll position at which a box is in the middle of the window. */
const middleOf = ({ top, height }: DOMRect): number => top + scrollY + height / 2 - innerHeight / 2

/**
 * Whether an element that fills the box around it is where it never was during the sweep. Some libraries move it only while it is in the window, and the
 * tall window takes it out of the box.
 */
function isMovedAway(element: Element, container: Element, shifts: readonly Shift[]): boolean {
  const now = matrixOf(element).m42
  const isFilling = getComputedStyle(container).overflowY !== 'visible' && boxOf(element).height >= boxOf(container).height
  return isFilling && shifts.every(({ values: [pixels = 0] }) => Math.abs(pixels - now) > TOLERANCE)
}

/** True for a background that scripts move in some other way, such as only while it is in the window. */
const isChanged = (shifts: readonly Shift[], now: readonly number[]): boolean => shifts.some(({ values }) => `${values}` !== `${now}`)

/** The shift at the noted position that is nearest. */
const nearest = (shifts: readonly Shift[], position: number): readonly number[] =>
  shifts.reduce((best, shift) => (Math.abs(shift.top - position) < Math.abs(best.top - position) ? shift : best)).values

/** The line on which all shifts are, by position; undefined if there is none. */
function lineThrough(shifts: readonly Shift[], maxSlope: number): ((position: number) => number[]) | undefined {
  const [first, last] = [shifts[0], shifts.at(-1)]
  if (!first || !last || shifts.length < MIN_POSITIONS) return undefined
  const slopes = last.values.map((value, index) => (value - (first.values[index] ?? value)) / (last.top - first.top))
  const at = (position: number) => first.values.map((value, index) => value + (slopes[index] ?? 0) * (position - first.top))
  const slope = Math.max(...slopes.map(Math.abs))
  const isOnLine = ({ top, values }: Shift) => {
    const expected = at(top)
    return values.length === expected.length && values.every((value, index) => Math.abs(value - (expected[index] ?? 0)) <= TOLERANCE)
  }
  return slope >= MIN_SLOPE && slope <= maxSlope && shifts.every(isOnLine) ? at : undefined
}
