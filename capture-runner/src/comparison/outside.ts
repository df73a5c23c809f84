import type { Comparison, PictureBox } from '@tintype/crds/kinds/comparison'

// Compares the sizes of two pictures of very different shapes. A canvas that contains both would not fit into the memory of a runner. Pure functions.

/** Width and height of a picture in pixels. */
export interface Size {
  width: number
  height: number
}

/** Maximum number of pixels of a canvas that contains both pictures. A single picture may have as many. */
export const MAX_CANVAS_PIXELS = 200_000_000

/** The smallest canvas that contains both pictures. */
export const canvasOf = (a: Size, b: Size): Size => ({ width: Math.max(a.width, b.width), height: Math.max(a.height, b.height) })

/** Whether the canvas of two pictures is too large to compare their pixels. */
export const isCanvasTooLarge = (a: Size, b: Size): boolean => areaOf(canvasOf(a, b)) > MAX_CANVAS_PIXELS

/** The result for pictures whose canvas is too large: all pixels outside of the common part count as changed, unless they are ignored. */
export function compareSizes(a: Size, b: Size, ignored: readonly PictureBox[], threshold: number | undefined): Comparison {
  const canvas = canvasOf(a, b)
  const common = { width: Math.min(a.width, b.width), height: Math.min(a.height, b.height) }
  const changedPixels = areaOf(canvas) - areaOf(common) - (coveredArea(ignored, canvas) - coveredArea(ignored, common))
  const changedRatio = changedPixels / areaOf(canvas)
  return {
    changed: changedRatio > (threshold ?? 0),
    changedPixels,
    changedRatio,
    sizeChanged: true,
    regions: changedPixels > 0 ? [{ x: 0, y: 0, ...canvas }] : [],
    regionCount: changedPixels > 0 ? 1 : 0,
    rule: 'size',
  }
}

const areaOf = ({ width, height }: Size): number => width * height

/** Number of pixels within the size that at least one of the boxes covers. */
function coveredArea(boxes: readonly PictureBox[], { width, height }: Size): number {
  const inside = boxes.map((box) => ({ ...box, right: Math.min(width, box.x + box.width), bottom: Math.min(height, box.y + box.height) }))
  const edges = [...new Set(inside.flatMap(({ y, bottom }) => [y, bottom]))].sort((a, b) => a - b)
  return edges.slice(1).reduce((area, bottom, index) => {
    const top = edges[index] ?? 0
    const covering = inside.filter((box) => box.y <= top && box.bottom >= bottom).sort((a, b) => a.x - b.x)
    let [covered, end] = [0, 0]
    for (const { x, right } of covering) {
      covered += Math.max(0, right - Math.max(x, end))
      end = Math.max(end, right)
    }
    return area + covered * (bottom - top)
  }, 0)
}
