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

/** The same in a mask that exists. */
export function fillIgnoreMask(mask: Uint8Array, boxes: readonly PictureBox[], rows: Rows): void {
  const { top, width, height } = rows
  mask.fill(0)
  for (const box of boxes) {
    if (!isCovering(box, rows)) continue
    const right = Math.min(width, box.x + box.width)
    const bottom = Math.min(height, box.y + box.height - top)
    for (let y = Math.max(0, box.y - top); y < bottom; y++) mask.fill(1, y * width + box.x, y * width + right)
  }
}

const isCovering = (box: PictureBox, { top, width, height }: Rows): boolean =>
  box.x < width && box.y < top + height && box.y + box.height > top
