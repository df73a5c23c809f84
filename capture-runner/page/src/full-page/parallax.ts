import type { PageFunctions } from '../../../src/page/functions.ts'
import { boxOf, parentOf, queryAll, scrollingElement, setStyle } from '../shared/dom.ts'
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

const matrixOf = (element: Element): DOMMatrix => new DOMMatrix(getComputedStyle(element).transform)

export const noteShifts: PageFunctions['noteShifts'] = () => {
  const noted = recall('tintypeShifts') ?? remember('tintypeShifts', new Map<Element, Shift[]>())
  for (const element of queryAll(document, '[style*="transform"]').slice(0, MAX_ELEMENTS)) {
    const shifts = noted.get(element) ?? []
    if (shifts.at(-1)?.top !== scrollY) noted.set(element, [...shifts, { top: scrollY, pixels: matrixOf(element).m42 }])
  }
}

export const placeShifted: PageFunctions['placeShifted'] = () => {
  const noted = recall('tintypeShifts') ?? new Map<Element, Shift[]>()
  const end = (scrollingElement()?.scrollHeight ?? 0) - innerHeight
  for (const [element, shifts] of noted) {
    const line = lineThrough(shifts)
    const container = parentOf(element)
    if (!line || !container) continue
    const { top, height } = boxOf(container)
    const position = Math.max(0, Math.min(end, top + scrollY + height / 2 - innerHeight / 2))
    const matrix = matrixOf(element)
    matrix.m42 = line.start + line.slope * position
    setStyle(element, { transform: matrix.toString(), transition: 'none' })
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
