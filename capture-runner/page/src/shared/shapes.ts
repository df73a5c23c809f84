// The shapes to which `clip-path` and `clip` cut an element, as points whose surrounding area is the one that they leave.

import type { Point } from '../../../src/page/functions.ts'
import { boxOf, call, isHtml, nameOf, queryAll, read } from './dom.ts'
import { containerOf } from './tree.ts'

/** An area of the window in CSS pixels. */
export interface Area {
  left: number
  top: number
  right: number
  bottom: number
}

/** The area around all areas; undefined if there is none. */
export function boxAround(areas: readonly Area[]): Area | undefined {
  if (areas.length === 0) return undefined
  return {
    left: Math.min(...areas.map(({ left }) => left)),
    top: Math.min(...areas.map(({ top }) => top)),
    right: Math.max(...areas.map(({ right }) => right)),
    bottom: Math.max(...areas.map(({ bottom }) => bottom)),
  }
}

/** The area that `clip-path` and `clip` of an element leave; undefined: all, or a shape that cannot be read. */
export function clipPathOf(element: Element): Area | undefined {
  const style = getComputedStyle(element)
  const { clipPath, clip, display, position } = style
  const isClipped = clip !== 'auto' && /absolute|fixed/.test(position)
  if ((clipPath === 'none' && !isClipped) || display === 'contents') return undefined
  const matrix = matrixOf(element)
  const own = ownBoxOf(element, matrix)
  const points = isClipped ? cornersOf(clip.replace('rect', ''), own) : pointsOf(element, clipPath, own)
  if (!points || points.some(({ x, y }) => Number.isNaN(x + y))) return undefined
  const toWindow = isDrawn(element) ? matrix : placeAt(matrix, own, boxOf(element))
  return boxAroundPoints(points, toWindow)
}

const boxAroundPoints = (points: readonly Point[], matrix: DOMMatrix): Area | undefined =>
  boxAround(points.map((point) => matrix.transformPoint(point)).map(({ x, y }) => ({ left: x, top: y, right: x, bottom: y })))

/** The area around a box of other coordinates. */
export const mapArea = ({ left, top, right, bottom }: Area, matrix: DOMMatrix): Area | undefined =>
  boxAroundPoints(rectangle(left, top, right, bottom), matrix)

/** Parts of SVG drawings have coordinates instead of boxes. */
export const isDrawn = (element: Element): element is SVGGraphicsElement =>
  'getScreenCTM' in element && read(element as unknown as SVGElement, 'ownerSVGElement') !== null

/** From the element's own coordinates to those of the window, without the distance to its corner for an element with a box. */
function matrixOf(element: Element): DOMMatrix {
  if (isDrawn(element)) return DOMMatrix.fromMatrix(call(element, 'getScreenCTM') ?? undefined)
  let matrix = new DOMMatrix()
  for (let outer: Element | undefined = element; outer; outer = containerOf(outer)) {
    const { transform, rotate, scale } = getComputedStyle(outer)
    const parts = [
      /^[-\d.e]+deg$/.test(rotate) ? `rotate(${rotate})` : '',
      scale === 'none' ? '' : `scale(${scale.split(' ').slice(0, 2)})`,
      transform,
    ]
    matrix = new DOMMatrix(parts.filter((part) => part !== '' && part !== 'none').join(' ')).multiply(matrix)
  }
  const { a, b, c, d } = matrix.scale(element.currentCSSZoom)
  return new DOMMatrix([a, b, c, d, 0, 0])
}

/** The box of an element in its own coordinates. */
function ownBoxOf(element: Element, { a, b, c, d }: DOMMatrix): DOMRect {
  if (isDrawn(element)) return DOMRect.fromRect(call(element, 'getBBox'))
  const { width, height } = boxOf(element)
  if (b === 0 && c === 0) return new DOMRect(0, 0, width / Math.abs(a), height / Math.abs(d))
  return new DOMRect(0, 0, read(element as HTMLElement, 'offsetWidth'), read(element as HTMLElement, 'offsetHeight'))
}

/** Moves a box so that it begins where it is shown. */
function placeAt(matrix: DOMMatrix, own: DOMRect, { left, top }: Area): DOMMatrix {
  const mapped = mapArea(own, matrix) ?? own
  return new DOMMatrix([1, 0, 0, 1, left - mapped.left, top - mapped.top]).multiply(matrix)
}

const rectangle = (left: number, top: number, right: number, bottom: number): Point[] =>
  [left, right].flatMap((x) => [top, bottom].map((y) => ({ x, y })))

/** Lengths and keywords of a shape, which spaces and commas separate. */
const valuesOf = (text: string): string[] => text.match(/(?:[^\s,()]|\((?:[^()]|\([^()]*\))*\))+/g) ?? []

/** Pixels of a computed length, which can be a sum; NaN for what cannot be read. */
function lengthOf(value: string, whole: number): number {
  const text = value.replace(/^calc\((.*)\)$/, '$1')
  const terms = [...text.matchAll(/(?:^| ([+-]) )(-?[\d.]+(?:e-?\d+)?)(px|%)(?= |$)/g)]
  if (terms.map(([term]) => term).join('') !== text) return Number.NaN
  return terms.reduce((sum, [, sign, number, unit]) => sum + (sign === '-' ? -1 : 1) * Number(number) * (unit === '%' ? whole / 100 : 1), 0)
}

function cornersOf(text: string, { width, height }: DOMRect): Point[] {
  const [top = 'auto', right = 'auto', bottom = 'auto', left = 'auto'] = valuesOf(text.replace(/[()]/g, ''))
  const at = (value: string, otherwise: number) => (value === 'auto' ? otherwise : lengthOf(value, 0))
  return rectangle(at(left, 0), at(top, 0), at(right, width), at(bottom, height))
}

/** Corners of a computed `clip-path`, or points around it. */
function pointsOf(element: Element, clipPath: string, own: DOMRect): Point[] | undefined {
  const [, id] = /^url\("?#([^"]+)"?\)$/.exec(clipPath) ?? []
  if (id !== undefined) return pointsOfReference(element, id, own)
  const [, name = '', text = '', kind = ''] = /^(?:([a-z]+)\((.*)\))? ?([a-z-]+-box)?$/.exec(clipPath) ?? []
  const box = isDrawn(element) ? own : referenceBoxOf(element, kind, own)
  const values = valuesOf(text)
  const x = (value: string) => box.left + lengthOf(value, box.width)
  const y = (value: string) => box.top + lengthOf(value, box.height)
  if (name === '') return kind === '' ? undefined : rectangle(box.left, box.top, box.right, box.bottom)
  if (name === 'inset') {
    const [up = '0px', side = up, down = up, start = side] = valuesOf(text.split(' round ')[0] ?? '')
    return rectangle(x(start), y(up), box.right - lengthOf(side, box.width), box.bottom - lengthOf(down, box.height))
  }
  if (name === 'polygon') {
    const lengths = values.filter((value) => !/^(nonzero|evenodd)$/.test(value))
    return lengths.flatMap((value, index) => (index % 2 === 0 ? [{ x: x(value), y: y(lengths[index + 1] ?? '') }] : []))
  }
  if (name === 'circle' || name === 'ellipse') return pointsOfEllipse(name, values, box)
  const [, path] = name === 'path' ? (/"(.*)"/.exec(text) ?? []) : []
  return path === undefined ? undefined : pointsOfPath(path, box)
}

/** Enough for a quarter of a pixel in an ellipse of a thousand. */
const POINTS = 256

function pointsOfEllipse(name: 'circle' | 'ellipse', values: readonly string[], box: DOMRect): Point[] {
  const at = values.indexOf('at')
  const radii = at === -1 ? values : values.slice(0, at)
  const [left = '50%', top = '50%'] = at === -1 ? [] : values.slice(at + 1)
  const middle = { x: lengthOf(left, box.width), y: lengthOf(top, box.height) }
  const sides = { x: [middle.x, box.width - middle.x].map(Math.abs), y: [middle.y, box.height - middle.y].map(Math.abs) }
  const radiusOf = (value: string | undefined, distances: readonly number[], whole: number) => {
    if (value === 'farthest-side') return Math.max(...distances)
    return value === undefined || value === 'closest-side' ? Math.min(...distances) : lengthOf(value, whole)
  }
  const both = radiusOf(radii[0], [...sides.x, ...sides.y], Math.hypot(box.width, box.height) / Math.SQRT2)
  const [width, height] =
    name === 'circle' ? [both, both] : [radiusOf(radii[0], sides.x, box.width), radiusOf(radii[1], sides.y, box.height)]
  return Array.from({ length: POINTS }, (_, index) => (index * 2 * Math.PI) / POINTS).map((angle) => ({
    x: box.left + middle.x + width * Math.cos(angle),
    y: box.top + middle.y + height * Math.sin(angle),
  }))
}

function pointsOfPath(text: string, { left, top }: DOMRect): Point[] {
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path')
  path.setAttribute('d', text)
  const length = path.getTotalLength()
  return Array.from({ length: POINTS + 1 }, (_, index) => path.getPointAtLength((index * length) / POINTS)).map(({ x, y }) => ({
    x: left + x,
    y: top + y,
  }))
}

/** The box to which the lengths of a shape refer. */
function referenceBoxOf(element: Element, kind: string, { width, height }: DOMRect): DOMRect {
  const style = getComputedStyle(element)
  const [left = 0, top = 0, right = 0, bottom = 0] = (['Left', 'Top', 'Right', 'Bottom'] as const).map((side) => {
    const [border, padding, margin] = [style[`border${side}Width`], style[`padding${side}`], style[`margin${side}`]].map(Number.parseFloat)
    if (kind === 'margin-box') return -(margin || 0)
    return kind === 'padding-box' || kind === 'content-box' ? (border || 0) + (kind === 'content-box' ? padding || 0 : 0) : 0
  })
  return new DOMRect(left, top, width - left - right, height - top - bottom)
}

/** Corners of the content of a `<clipPath>`. */
function pointsOfReference(element: Element, id: string, own: DOMRect): Point[] | undefined {
  const found = queryAll(call(element, 'getRootNode') as ParentNode & Node, `#${CSS.escape(id)}`)[0]
  if (!found || isHtml(found) || nameOf(found) !== 'clipPath') return undefined
  const parts = [...read(found, 'children')] as SVGGraphicsElement[]
  if ([found, ...parts].some((part) => call(part, 'hasAttribute', 'transform') || call(part, 'hasAttribute', 'clip-path'))) return undefined
  const isRelative = call(found, 'getAttribute', 'clipPathUnits') === 'objectBoundingBox'
  const scale = isRelative ? own : { x: 0, y: 0, width: 1, height: 1 }
  const boxes = parts.filter((part) => 'getBBox' in part).map((part) => DOMRect.fromRect(call(part, 'getBBox')))
  return boxes.flatMap(({ left, top, right, bottom }) =>
    rectangle(left, top, right, bottom).map(({ x, y }) => ({ x: scale.x + x * scale.width, y: scale.y + y * scale.height })),
  )
}
