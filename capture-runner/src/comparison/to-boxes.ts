import { type IgnoredElements, MAX_IGNORED_BOXES, type PictureBox } from '@tintype/crds/kinds/comparison'

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
