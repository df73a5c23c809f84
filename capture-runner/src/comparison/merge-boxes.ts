import type { PictureBox } from '@tintype/crds/kinds/comparison'
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
