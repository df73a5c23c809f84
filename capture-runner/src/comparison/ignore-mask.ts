import type { PictureBox } from '@tintype/crds/kinds/comparison'

/** Rows of a picture. */
interface Rows {
  top: number
  width: number
  height: number
}

/** One byte for each pixel of the rows, 1 if a box covers it; undefined if no box does. */
export function toIgnoreMask(boxes: readonly PictureBox[], rows: Rows): Uint8Array | undefined {
  if (!boxes.some((box) => isCovering(box, rows))) return undefined
  const mask = new Uint8Array(rows.width * rows.height)
  fillIgnoreMask(mask, boxes, rows)
  return mask
}

/** The same in a mask that exists. A page can have thousands of boxes, one in another, so each pixel is written once and not for each box. */
export function fillIgnoreMask(mask: Uint8Array, boxes: readonly PictureBox[], rows: Rows): void {
  const { top, width, height } = rows
  mask.fill(0)
  /** Rows at which boxes begin or end. */
  const edges = new Map<number, { left: number; right: number; step: number }[]>()
  for (const box of boxes) {
    if (!isCovering(box, rows)) continue
    const [left, right] = [box.x, Math.min(width, box.x + box.width)]
    const add = (y: number, step: number) => {
      const changes = edges.get(y)
      if (changes) changes.push({ left, right, step })
      else edges.set(y, [{ left, right, step }])
    }
    add(Math.max(0, box.y - top), 1)
    add(box.y + box.height - top, -1)
  }
  if (edges.size === 0) return
  // By how many the number of boxes over a pixel differs from that over the pixel to the left.
  const steps = new Int32Array(width + 1)
  for (let y = 0; y < height; y++) {
    const start = y * width
    const changes = edges.get(y)
    if (!changes) {
      if (y > 0) mask.copyWithin(start, start - width, start)
      continue
    }
    for (const { left, right, step } of changes) {
      steps[left]! += step
      steps[right]! -= step
    }
    let depth = 0
    for (let x = 0; x < width; x++) {
      depth += steps[x]!
      mask[start + x] = Number(depth > 0)
    }
  }
}

const isCovering = (box: PictureBox, { top, width, height }: Rows): boolean =>
  box.x < width && box.y < top + height && box.y + box.height > top
