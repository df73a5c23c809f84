import type { Comparison, PictureBox } from '@tintype/crds/kinds/comparison'
import { type InParts, Steps } from './in-turns.ts'

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

/**
 * The result for pictures whose canvas is too large: all pixels outside of the common part count as changed, unless they are ignored.
 * @param common the part that counts as equal. Default: what both pictures have
 */
export function* compareSizes(
  a: Size,
  b: Size,
  ignored: readonly PictureBox[],
  threshold: number | undefined,
  common: Size = { width: Math.min(a.width, b.width), height: Math.min(a.height, b.height) },
): InParts<Comparison> {
  const canvas = canvasOf(a, b)
  const covered = (yield* coveredArea(ignored, canvas)) - (yield* coveredArea(ignored, common))
  const changedPixels = areaOf(canvas) - areaOf(common) - covered
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
function* coveredArea(boxes: readonly PictureBox[], { width, height }: Size): InParts<number> {
  const inside = boxes.filter(({ x, y }) => x < width && y < height)
  const sides = inside.flatMap(({ x, width: own }) => [x, Math.min(width, x + own)])
  const lefts = [...new Set(sides)].sort((a, b) => a - b)
  const columnOf = new Map(lefts.map((x, index) => [x, index]))
  const edges = inside
    .flatMap((box, index) => {
      const [left, right] = [columnOf.get(sides[2 * index]!)!, columnOf.get(sides[2 * index + 1]!)!]
      return [
        { y: box.y, left, right, step: 1 },
        { y: Math.min(height, box.y + box.height), left, right, step: -1 },
      ]
    })
    .sort((a, b) => a.y - b.y)
  // By how many the number of boxes over a column differs from that over the column before.
  const changes = new Int32Array(lefts.length)
  const steps = new Steps()
  let [area, covered] = [0, 0]
  for (const [index, { y, left, right, step }] of edges.entries()) {
    if (index > 0) area += covered * (y - edges[index - 1]!.y)
    changes[left]! += step
    changes[right]! -= step
    if (edges[index + 1]?.y === y) continue
    let depth = 0
    covered = 0
    for (let column = 0; column < lefts.length; column++) {
      depth += changes[column]!
      if (depth > 0) covered += lefts[column + 1]! - lefts[column]!
    }
    if (steps.add(lefts.length)) yield
  }
  return area
}
