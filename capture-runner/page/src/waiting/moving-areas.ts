import type { PageFunctions, WindowShare } from '../../../src/page/functions.ts'
import { isVisible } from '../shared/boxes.ts'
import { attributeOf, boxOf, nameOf, parentOf, queryAll } from '../shared/dom.ts'
import { findMatches, findRoots } from '../shared/tree.ts'
import { isEndless } from './animations.ts'

export const findMovingAreas: PageFunctions['findMovingAreas'] = () => {
  const roots = findRoots(false)
  const found = findMatches('img, video, svg:has([repeatCount=indefinite], [repeatDur]), marquee', roots)
  const endless = roots.flatMap((root) => root.getAnimations()).filter(isEndless)
  found.push(...endless.map(({ effect }) => effect.target))
  return found.map(toShare)
}

export const findAreas: PageFunctions['findAreas'] = (selectors) =>
  selectors.flatMap((selector) => findMatches(selector, findRoots(false)).map(toShare))

/** The part of the window that an element covers. */
function toShare(element: Element): WindowShare {
  const { left, top, right, bottom } = boxOf(element)
  return { left: left / innerWidth, top: top / innerHeight, right: right / innerWidth, bottom: bottom / innerHeight }
}

/** Share of the window from which an element stands for the whole page. */
const WHOLE = 0.5
/** Classes of an element that are tried. Utility style sheets give elements dozens of them. */
const MAX_CLASSES = 8

export const nameElements: PageFunctions['nameElements'] = (areas, tolerance) => {
  // Boxes are read once: each read of many could force a layout.
  const boxes = queryAll(document, 'body *').map((element) => ({ element, box: boxOf(element) }))
  return areas.map((area) => {
    const inside = boxes.filter(({ box }) => contains(box, area, tolerance)).sort((one, other) => sizeOf(one.box) - sizeOf(other.box))
    const smallest = inside.find(({ element }) => isVisible(element))
    return smallest && sizeOf(smallest.box) < WHOLE * innerWidth * innerHeight ? toSelector(smallest.element) : null
  })
}

const sizeOf = ({ width, height }: DOMRect): number => width * height

/** True if the box contains the area. */
function contains({ left, top, right, bottom }: DOMRect, area: WindowShare, tolerance: number): boolean {
  const gap = tolerance * innerWidth
  return (
    left - gap <= area.left * innerWidth &&
    top - gap <= area.top * innerHeight &&
    right + gap >= area.right * innerWidth &&
    bottom + gap >= area.bottom * innerHeight
  )
}

/** A short selector that matches only this element in the document. */
export function toSelector(element: Element): string {
  const steps: string[] = []
  for (let at: Element | null = element; at; at = parentOf(at)) {
    const own = ownSelector(at)
    if (own !== undefined) return [own, ...steps].join(' > ')
    steps.unshift(`${CSS.escape(nameOf(at))}:nth-of-type(${indexOf(at)})`)
  }
  return steps.join(' > ')
}

/** The id or a class that only this element has. */
function ownSelector(element: Element): string | undefined {
  const id = attributeOf(element, 'id')
  const classes = (attributeOf(element, 'class') ?? '').split(/\s+/).filter(Boolean).slice(0, MAX_CLASSES)
  const tag = CSS.escape(nameOf(element))
  const candidates = [...(id ? [`#${CSS.escape(id)}`] : []), ...classes.map((name) => `${tag}.${CSS.escape(name)}`), tag]
  return candidates.find((selector) => queryAll(document, selector).length === 1)
}

/** Place among the siblings with the same name, from 1. */
function indexOf(element: Element): number {
  const parent = parentOf(element)
  if (!parent) return 1
  const same = [...parent.children].filter((child) => nameOf(child) === nameOf(element))
  return same.indexOf(element) + 1
}
