import type { PageFunctions } from '../../../src/page/functions.ts'
import { isInSight } from '../shared/boxes.ts'
import { call, createHtml, nameOf, queryAll, type Root, read, setStyle } from '../shared/dom.ts'
import { shownAreasOf } from '../shared/painted.ts'
import type { Area } from '../shared/shapes.ts'
import { recall, remember } from '../shared/state.ts'
import { findMatches, findRoots, shadowRootOf } from '../shared/tree.ts'

const LAYER = {
  all: 'initial',
  position: 'absolute',
  left: '0',
  top: '0',
  width: '0',
  height: '0',
  overflow: 'visible',
  margin: '0',
  border: '0',
  padding: '0',
  'pointer-events': 'none',
  'z-index': '2147483647',
  display: 'block',
  background: 'none',
  visibility: 'visible',
}
const BOX = { position: 'absolute', display: 'block', margin: '0', border: '0', padding: '0', visibility: 'visible' }

/**
 * Hides the matches, because their content may be larger than their boxes, and covers the boxes. A later call covers the matches where they are then.
 * Boxes of a frame are in the document of the frame.
 */
export const coverMatches: PageFunctions['coverMatches'] = ({ selectors, color }) => {
  for (const layer of recall('tintypeMasks') ?? []) call(layer, 'remove')
  const roots = findRoots()
  const matches = selectors.map((selector) => findMatches(selector, roots))
  hideAll(matches.flat(), selectors, roots)
  const layers = new Map<Document, HTMLElement>()
  const areas = matches.map((elements) =>
    elements.flatMap((element) => shownAreasOf(element, recall('tintypeSeen')).map((area) => ({ element, area }))),
  )
  for (const { element, area } of areas.flat()) {
    const document = read(element, 'ownerDocument')
    const layer = layers.get(document) ?? addLayer(document)
    layers.set(document, layer)
    cover(layer, area, color)
  }
  remember('tintypeMasks', [...layers.values()])
  return areas.map(({ length }) => length)
}

/** A layer in the browser's top layer, above any dialog of the page. Styled by properties, which no Content-Security-Policy blocks. */
function addLayer(document: Document): HTMLElement {
  const layer = createHtml('div', document)
  setStyle(layer, LAYER)
  layer.popover = 'manual'
  call(document.documentElement, 'append', layer)
  try {
    layer.showPopover()
  } catch {}
  return layer
}

function cover(layer: HTMLElement, { left, top, right, bottom }: Area, color: string): void {
  const origin = layer.getBoundingClientRect()
  const box = createHtml('div', layer.ownerDocument)
  const place = { left: left - origin.left, top: top - origin.top, width: right - left, height: bottom - top }
  const pixels = Object.entries(place).map(([name, value]) => [name, `${value}px`])
  setStyle(box, { ...BOX, ...Object.fromEntries(pixels), background: color })
  layer.append(box)
}

/** A PDF shows no boxes, because text below a box could be copied. Targets of links and alternative texts would be in it, too. */
export const leaveOutMatches: PageFunctions['leaveOutMatches'] = (selectors) => {
  const roots = findRoots()
  const matches = selectors.map((selector) => findMatches(selector, roots))
  for (const element of hideAll(matches.flat(), selectors, roots)) {
    for (const name of SPOKEN) call(element, 'removeAttribute', name)
    call(element, 'removeAttributeNS', 'http://www.w3.org/1999/xlink', 'href')
    call(element, 'setAttribute', 'aria-hidden', 'true')
    // The title of the document is the title of the file.
    if (nameOf(element) === 'title') call(element, 'replaceChildren')
  }
  return matches.map(({ length }) => length)
}

/** Attributes that a PDF contains without showing them. */
const SPOKEN = ['href', 'alt', 'title', 'aria-label', 'aria-description', 'aria-roledescription', 'summary', 'abbr', 'lang', 'placeholder']

/** No descendant and no generated text can undo the opacity. A transition would show the elements for as long as it takes. */
const HIDDEN = { visibility: 'hidden', opacity: '0', transition: 'none' }

/** Hides elements with all that they contain, by style and by rules for those that the page adds later. Returns all that is hidden. */
function hideAll(elements: readonly Element[], selectors: readonly string[], roots: readonly Root[]): Element[] {
  const hidden = new Set<Element>()
  for (const element of elements) addContent(element, hidden)
  const seen = recall('tintypeSeen') ?? remember('tintypeSeen', new WeakSet())
  for (const element of hidden) if (isInSight(element)) seen.add(element)
  for (const element of hidden) setStyle(element, HIDDEN)
  const known = recall('tintypeHidden') ?? remember('tintypeHidden', new WeakSet())
  for (const root of roots) {
    if (known.has(root)) continue
    known.add(root)
    addRules(root, selectors)
  }
  return [...hidden]
}

/** An element with all that is in it, also in shadow roots. */
function addContent(element: Element, found: Set<Element>): void {
  if (found.has(element)) return
  for (const inner of [element, ...queryAll(element, '*')]) {
    found.add(inner)
    for (const shadowed of shadowRootOf(inner)?.children ?? []) addContent(shadowed, found)
  }
}

function addRules(root: Root, selectors: readonly string[]): void {
  const document = root.nodeType === Node.DOCUMENT_NODE ? (root as Document) : (root as ShadowRoot).host.ownerDocument
  const view = document.defaultView
  if (!view) return
  const sheet = new view.CSSStyleSheet()
  for (const selector of selectors) {
    const matches = `:is(${selector})`
    sheet.insertRule(`${matches}, ${matches} *, ${matches}::before, ${matches}::after { visibility: hidden !important }`)
  }
  root.adoptedStyleSheets.push(sheet)
}
