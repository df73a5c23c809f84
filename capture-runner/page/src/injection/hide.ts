import type { PageFunctions } from '../../../src/page/functions.ts'
import { isInSight } from '../shared/boxes.ts'
import { call, createHtml, nameOf, queryAll, type Root, read, setStyle, write } from '../shared/dom.ts'
import { isSecret } from '../shared/fields.ts'
import { shownAreasOf } from '../shared/painted.ts'
import type { Area } from '../shared/shapes.ts'
import { recall, remember } from '../shared/state.ts'
import { findMatches, findRoots, shadowRootOf } from '../shared/tree.ts'

export const addSheet: PageFunctions['addSheet'] = (text) => {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(text)
  document.adoptedStyleSheets.push(sheet)
}

export const hideInShadow: PageFunctions['hideInShadow'] = (selectors) => {
  const roots = findRoots()
  for (const element of selectors.flatMap((selector) => findMatches(selector, roots))) setStyle(element, { display: 'none' })
}

export const collapseBlocked: PageFunctions['collapseBlocked'] = (addresses) => {
  const refused = new Set(addresses)
  for (const element of queryAll(document, 'img, iframe, frame, embed') as HTMLImageElement[]) {
    if (refused.has(element.currentSrc || element.src)) setStyle(element, { display: 'none' })
  }
}

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

/**
 * Removes what is masked from the document, for the files of the page. Runs after the screenshot with scripts switched off, or components could render
 * it again. Scripts, comments and style rules for the matches may repeat it, so they go too.
 */
export const redactMatches: PageFunctions['redactMatches'] = (selectors) => {
  const roots = findRoots()
  const matches = selectors.map((selector) => findMatches(selector, roots))
  const inside = matches.flat().flatMap((element) => [element, ...queryAll(element, '*')])
  for (const root of roots) {
    removeRules(root, inside)
    removeHidden(root, selectors)
  }
  for (const element of new Set(matches.flat())) empty(element)
  return matches.map(({ length }) => length)
}

/** Elements whose content is not among their children. */
const REPLACED = /^(iframe|frame|object|embed|img|image|picture|video|audio|canvas|use)$/

function empty(element: Element): void {
  const root = shadowRootOf(element)
  if (root) root.replaceChildren()
  if (REPLACED.test(nameOf(element))) {
    call(element, 'replaceWith', document.createElementNS(read(element, 'namespaceURI'), 'g'))
    return
  }
  for (const { name } of [...read(element, 'attributes')]) call(element, 'removeAttribute', name)
  if ('value' in Object.getPrototypeOf(element)) write(element as HTMLInputElement, 'value', '')
  call(element, 'replaceChildren')
}

/** Rules for what is masked: their backgrounds and generated texts. */
function removeRules(root: Root, masked: readonly Element[]): void {
  for (const style of queryAll(root, 'style') as HTMLStyleElement[]) {
    const rules = [...(style.sheet?.cssRules ?? [])]
    const kept = rules.filter((rule) => !isFor(rule, masked))
    if (kept.length < rules.length) style.textContent = kept.map(({ cssText }) => cssText).join('\n')
  }
  for (const sheet of root.adoptedStyleSheets) {
    for (const [index, rule] of [...sheet.cssRules].entries().toArray().reverse()) if (isFor(rule, masked)) sheet.deleteRule(index)
  }
}

function isFor(rule: CSSRule, masked: readonly Element[]): boolean {
  const inner = 'cssRules' in rule ? [...(rule.cssRules as CSSRuleList)] : []
  if (inner.some((one) => isFor(one, masked))) return true
  if (!('selectorText' in rule) || !/url\(|content:|image-set\(|--/.test(rule.cssText)) return false
  const selector = String(rule.selectorText).replace(/::?(before|after|marker|placeholder|first-line|first-letter)\b/g, '')
  try {
    return masked.some((element) => call(element, 'matches', selector === '' ? '*' : selector))
  } catch {
    return true
  }
}

/** Scripts, event handlers, comments and the contents of templates may repeat what is masked. */
function removeHidden(root: Root, selectors: readonly string[]): void {
  for (const script of queryAll(root, 'script')) call(script, 'replaceChildren')
  const document = root.nodeType === Node.DOCUMENT_NODE ? (root as Document) : root.ownerDocument!
  const comments = document.createNodeIterator(root, NodeFilter.SHOW_COMMENT)
  for (let node = comments.nextNode(); node; node = comments.nextNode()) node.parentNode?.removeChild(node)
  for (const template of queryAll(root, 'template') as HTMLTemplateElement[]) {
    for (const selector of selectors) for (const element of queryAll(template.content, selector)) empty(element)
  }
  for (const element of queryAll(root, '*')) {
    for (const { name } of [...read(element, 'attributes')]) if (/^on|^srcdoc$/.test(name)) call(element, 'removeAttribute', name)
  }
}

/** Takes the passwords out of all fields until they are returned. No event tells the page. */
export const takePasswords: PageFunctions['takePasswords'] = () => {
  const taken = recall('tintypePasswords') ?? remember('tintypePasswords', new Map())
  const fields = findMatches('input, textarea').filter(isSecret) as HTMLInputElement[]
  for (const field of fields) {
    const [value, defaultValue] = [read(field, 'value'), read(field, 'defaultValue')]
    if (value === '' && defaultValue === '') continue
    taken.set(field, { value, defaultValue })
    write(field, 'value', '')
    if (defaultValue !== '') write(field, 'defaultValue', '')
  }
}

/** A field in which a script has written meanwhile keeps what it has. */
export const returnPasswords: PageFunctions['returnPasswords'] = () => {
  for (const [field, { value, defaultValue }] of recall('tintypePasswords') ?? []) {
    if (defaultValue !== '') write(field, 'defaultValue', defaultValue)
    if (read(field, 'value') === '') write(field, 'value', value)
  }
  recall('tintypePasswords')?.clear()
}
