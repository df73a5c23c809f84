import type { PictureBox } from '@tintype/crds/kinds/comparison'

/** A box with the number of changed pixels in it. */
export interface WeightedBox extends PictureBox {
  pixels: number
}

/** Merges boxes that overlap until none do. */
export function mergeOverlapping(boxes: readonly WeightedBox[]): WeightedBox[] {
  let merged = boxes.map((box) => ({ ...box }))
  for (;;) {
    const before = merged.length
    merged = mergeOnce(merged)
    if (merged.length === before) return merged
  }
}

/** One pass from top to bottom. A box that grew may overlap with an earlier one, which the next pass finds. */
function mergeOnce(boxes: readonly WeightedBox[]): WeightedBox[] {
  const done: WeightedBox[] = []
  let open: WeightedBox[] = []
  for (const box of [...boxes].sort((one, other) => one.y - other.y)) {
    done.push(...open.filter(({ y, height }) => y + height <= box.y))
    open = open.filter(({ y, height }) => y + height > box.y)
    const target = open.find((other) => isOverlapping(box, other))
    if (target) Object.assign(target, union(target, box))
    else open.push(box)
  }
  return [...done, ...open]
}

const isOverlapping = (a: PictureBox, b: PictureBox): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

function union(a: WeightedBox, b: WeightedBox): WeightedBox {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  const [right, bottom] = [Math.max(a.x + a.width, b.x + b.width), Math.max(a.y + a.height, b.y + b.height)]
  return { x, y, width: right - x, height: bottom - y, pixels: a.pixels + b.pixels }
}
