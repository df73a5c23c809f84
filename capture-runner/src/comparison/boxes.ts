import { type IgnoredElements, MAX_IGNORED_BOXES, type PictureBox } from '@tintype/crds/kinds/comparison'
import { type InParts, Steps } from './in-turns.ts'

/** A box with the number of changed pixels in it. */
export interface WeightedBox extends PictureBox {
  pixels: number
}

/** Pairs of boxes to compare with each other: less than a second. An ordinary page has a thousandth of it. */
const MAX_PAIRS = 20_000_000

/** Merges boxes that overlap until none do. Undefined: that would take more than `maxPairs` comparisons. */
export function* mergeOverlapping(boxes: readonly WeightedBox[], maxPairs = MAX_PAIRS): InParts<WeightedBox[] | undefined> {
  let merged = boxes.map((box) => ({ ...box }))
  let left = maxPairs
  for (;;) {
    const { done, pairs } = yield* mergeOnce(merged, left)
    left -= pairs
    if (left < 0) return undefined
    if (merged.length === done.length) return done
    merged = done
  }
}

/** One pass from top to bottom. A box that grew may overlap with an earlier one, which the next pass finds. Ends early after `maxPairs`. */
function* mergeOnce(boxes: readonly WeightedBox[], maxPairs: number): InParts<{ done: WeightedBox[]; pairs: number }> {
  const done: WeightedBox[] = []
  let open: WeightedBox[] = []
  const steps = new Steps()
  let pairs = 0
  for (const box of boxes.toSorted((one, other) => one.y - other.y)) {
    pairs += open.length
    if (pairs > maxPairs) break
    if (steps.add(open.length)) yield
    done.push(...open.filter(({ y, height }) => y + height <= box.y))
    open = open.filter(({ y, height }) => y + height > box.y)
    const target = open.find((other) => isOverlapping(box, other))
    if (target) Object.assign(target, unionOf(target, box), { pixels: target.pixels + box.pixels })
    else open.push(box)
  }
  return { done: [...done, ...open], pairs }
}

const isOverlapping = (a: PictureBox, b: PictureBox): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** The box around two boxes. */
export function unionOf(a: PictureBox, b: PictureBox): PictureBox {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  const [right, bottom] = [Math.max(a.x + a.width, b.x + b.width), Math.max(a.y + a.height, b.y + b.height)]
  return { x, y, width: right - x, height: bottom - y }
}

/** A rectangle of the page, in CSS pixels from its top left corner. */
export interface PageArea {
  x: number
  y: number
  width: number
  height: number
}

/** How pixels of the picture relate to the page: the top left corner in CSS pixels, and device pixels per CSS pixel. */
export interface PictureFrame {
  x: number
  y: number
  scale: number
}

/** The frame of a picture that begins at the top left corner of the page. */
export const PAGE_FRAME: PictureFrame = { x: 0, y: 0, scale: 1 }

/** The pixels of a picture that a rectangle of the page touches; undefined if it is above or left of the picture. */
export function toBox(area: PageArea, frame: PictureFrame): PictureBox | undefined {
  const left = Math.max(0, Math.floor((area.x - frame.x) * frame.scale))
  const top = Math.max(0, Math.floor((area.y - frame.y) * frame.scale))
  const right = Math.ceil((area.x + area.width - frame.x) * frame.scale)
  const bottom = Math.ceil((area.y + area.height - frame.y) * frame.scale)
  return right > left && bottom > top ? { x: left, y: top, width: right - left, height: bottom - top } : undefined
}

/** Converts rectangles of the page to pixels of the picture. */
export const toBoxes = (areas: readonly PageArea[], frame: PictureFrame): PictureBox[] => areas.flatMap((area) => toBox(area, frame) ?? [])

/** Larger boxes, by some pixels on each side. */
export const widen = (boxes: readonly PictureBox[], pixels: number): PictureBox[] =>
  boxes.map(({ x, y, width, height }) => {
    const [left, top] = [Math.max(0, x - pixels), Math.max(0, y - pixels)]
    return { x: left, y: top, width: x + width + pixels - left, height: y + height + pixels - top }
  })

/** An element's selector, and its boxes in CSS pixels of the page. */
interface Elements {
  selector: string
  areas: readonly PageArea[]
}

/** The ignored elements for the record, so that later comparisons can ignore them after they are gone. */
export const toIgnored = (elements: readonly Elements[], frame: PictureFrame): IgnoredElements[] =>
  elements.map(({ selector, areas }) => ({ selector, boxes: toBoxes(areas, frame).slice(0, MAX_IGNORED_BOXES) }))
