import type { PictureBox } from '@tintype/crds/kinds/comparison'

/** Rows of a picture. */
interface Rows {
  top: number
  width: number
  height: number
}

/** One byte for each pixel of the rows, 1 if a box covers it; undefined if no box does. */
export function toIgnoreMask(boxes: readonly PictureBox[], { top, width, height }: Rows): Uint8Array | undefined {
  const covering = boxes.filter((box) => box.x < width && box.y < top + height && box.y + box.height > top)
  if (covering.length === 0) return undefined
  const mask = new Uint8Array(width * height)
  for (const box of covering) {
    const right = Math.min(width, box.x + box.width)
    const bottom = Math.min(height, box.y + box.height - top)
    for (let y = Math.max(0, box.y - top); y < bottom; y++) mask.fill(1, y * width + box.x, y * width + right)
  }
  return mask
}
