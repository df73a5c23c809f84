import { boxOf, call, nameOf, read } from './dom.ts'
import { textOfField } from './fields.ts'
import { type Generated, GeneratedText, PseudoHosts } from './generated.ts'
import type { Area } from './shapes.ts'
import {
  Camouflage,
  canvasOf,
  enterScene,
  type Ground,
  groundOf,
  isLegible,
  isLike,
  isSeenIn,
  isShowing,
  isShownByStyle,
  type Scene,
  sceneOf,
  showsAllTexts,
} from './sight.ts'
import { frameDocumentOf, partsOf } from './tree.ts'

// The one way to read the text that a page shows. `innerText` leaves shadow roots, frames, fields and generated text out, so a page is read node by node.

/**
 * The text that the page shows, in the document, in its shadow roots, and in the frames of its process.
 * @param hasOwnCanvas pages that set no background do not get a white one
 */
export function readVisibleText(hasOwnCanvas = false): string {
  // A script can add elements beside the body.
  const root = document.documentElement as Element | null
  return root ? new TextCollector().collect(root, canvasOf(hasOwnCanvas)) : ''
}

/** Elements that show no text of their own, or show it in a picture. */
const SILENT =
  /^(script|style|template|head|title|canvas|video|audio|datalist|embed|meter|progress|desc|metadata|defs|symbol|clipPath|mask|marker|pattern)$/
const FIELD = /^(input|textarea|select|img)$/
const FRAME = /^(iframe|frame|object)$/
const BLOCK = /^(?!inline|contents|ruby|none)/

/** How the text of an element is shown. */
type TextStyle = Pick<CSSStyleDeclaration, 'visibility' | 'whiteSpaceCollapse' | 'textTransform'>

/** An element whose content is being visited. */
interface OpenElement {
  element: Element
  depth: number
  breaks: number
  style: CSSStyleDeclaration
  scene: Scene
  /** What is behind its own texts. Undefined: nobody knows, or it has another color. */
  ground: Ground | undefined
  isFrame: boolean
  /** That of its content. */
  inside: Scene
  /** True if no text in it is cut away, unless an element in it does so. */
  isOpen: boolean
  /** How its own texts are shown, once it is known; null if no reader can see the letters. */
  shown?: TextStyle | null
  /** Whether its letters have the color of its ground, once it is known. */
  isLike?: boolean
  parts: Iterator<Node, undefined>
}

/** Values that do not look up the styles of the element again. */
const toTextStyle = ({ visibility, whiteSpaceCollapse, textTransform }: TextStyle): TextStyle => ({
  visibility,
  whiteSpaceCollapse,
  textTransform,
})

/** Collects the text of a tree as `innerText` does: blocks on lines of their own, cells with tabs between them, spaces as shown. */
class TextCollector {
  readonly #parts: string[] = []
  readonly #hosts = new PseudoHosts()
  readonly #generated = new GeneratedText(this.#hosts)
  readonly #camouflage = new Camouflage(this.#hosts)
  readonly #range = document.createRange()
  /** Line breaks that the next text needs before it. */
  #breaks = 0

  /** Keeps the open elements in a list, because scripts can nest more of them than a function can call itself. */
  collect(root: Element, canvas: Ground | undefined): string {
    const open = [this.#enter(root, sceneOf(globalThis.window), canvas)]
    for (let top = open.at(-1); top; top = open.at(-1)) {
      const { done, value: node } = top.parts.next()
      if (done) this.#leave(open.pop()!)
      else if (node.nodeType === Node.TEXT_NODE) this.#addText(node as Text, top)
      else if (node.nodeType === Node.ELEMENT_NODE) {
        const inner = this.#enter(node as Element, top.inside, top.isFrame ? undefined : top.ground, top)
        if (inner) open.push(inner)
      }
    }
    return this.#parts.join('')
  }

  /** A frame has a window of its own, which is as visible as the frame. */
  #sceneIn(frame: Document, element: Element, style: CSSStyleDeclaration, scene: Scene): Scene {
    const isLarge = read(element, 'clientWidth') > 1 && read(element, 'clientHeight') > 1
    const isShown = isLarge && style.visibility === 'visible' && isSeenIn(boxOf(element), scene.flow)
    return frame.defaultView ? sceneOf(frame.defaultView, isShown ? scene.opacity : 0) : scene
  }

  /** Adds what an element shows before its content. Returns undefined if it has no content to visit. */
  #enter(element: Element, around: Scene, behind: Ground | undefined, outer?: OpenElement): OpenElement | undefined {
    const depth = outer ? outer.depth + 1 : 0
    const name = nameOf(element)
    const style = getComputedStyle(element)
    const { display } = style
    const isLeftOut = (SILENT.test(name) && depth > 0) || (name === 'noscript' && !call(element, 'checkVisibility'))
    if (display === 'none' || isLeftOut) return undefined
    if (name === 'br') {
      this.#parts.push('\n')
      return undefined
    }
    const breaks = breaksOf(display, name)
    this.#break(breaks)
    if (display === 'table-cell' && read(element, 'previousElementSibling') !== null) this.#parts.push('\t')
    this.#generated.enter(element, style, depth)
    const isInside = outer?.isOpen === true && read(element, 'parentNode') === outer.element
    const scene = enterScene(element, style, around, isInside)
    const ground = groundOf(element, style, behind)
    const field = FIELD.test(name) ? textOfField(element) : undefined
    if (field !== undefined) {
      const isCovered = () => this.#camouflage.isHidden(element, style, ground, () => boxOf(element))
      if (isSeenIn(boxOf(element), scene.flow) && isShownByStyle(element, style, around.opacity) && !isCovered())
        this.#addField(name, field, toTextStyle(style))
      this.#break(breaks)
      return undefined
    }
    const isSame = isInside && scene.flow === outer.scene.flow
    const isOpen = isSame || (isShowing(scene) && name !== 'object' && name !== 'svg' && showsAllTexts(element, this.#range, scene))
    const frame = FRAME.test(name) ? frameDocumentOf(element) : undefined
    const inside = frame ? this.#sceneIn(frame, element, style, scene) : scene
    const parts = contentOf(element, name, frame, style)[Symbol.iterator]()
    const opened = { element, depth, breaks, style, scene, ground, isFrame: frame !== undefined, inside, isOpen, parts }
    if (/\blist-item\b/.test(display)) this.#addMarker(opened, this.#generated.readMarker(element, style, depth))
    this.#addGenerated(opened, this.#generated.read(element, '::before', depth))
    return opened
  }

  #leave(opened: OpenElement): void {
    this.#addGenerated(opened, this.#generated.read(opened.element, '::after', opened.depth))
    this.#generated.leave(opened.depth)
    this.#break(opened.breaks)
  }

  /** How the own texts of an element are shown; null if no reader can see the letters. */
  #shownOf(opened: OpenElement): TextStyle | null {
    const { element, style, scene } = opened
    if (opened.shown === undefined) opened.shown = isShowing(scene) && isLegible(element, style, scene.opacity) ? toTextStyle(style) : null
    return opened.shown
  }

  /** White space is kept between texts, whatever its place. */
  #addText(text: Text, opened: OpenElement): void {
    const { element, style, scene } = opened
    const shown = this.#shownOf(opened)
    if (shown === null) return
    if (/\S/.test(text.data)) {
      opened.isLike ??= isLike(style, opened.ground)
      const boxOfText = () => this.#boxOfText(text)
      if (opened.isLike && this.#camouflage.isHidden(element, style, opened.ground, boxOfText)) return
      const isKnown = opened.isOpen && text.parentNode === element
      if (!isKnown && !isSeenIn(boxOfText(), scene.flow)) return
    }
    this.#add(text.data, shown)
  }

  #boxOfText(text: Text): DOMRect {
    this.#range.selectNodeContents(text)
    return this.#range.getBoundingClientRect()
  }

  #addMarker(opened: OpenElement, found: Generated | undefined): void {
    if (!found) return
    const { element, scene, ground } = opened
    const { text, style } = found
    const isLegibleMarker = style === opened.style ? this.#shownOf(opened) !== null : isShownByStyle(element, style, scene.opacity)
    if (!isLegibleMarker || !isShowing(scene) || !isMarkerSeen(boxOf(element), found, scene)) return
    if (this.#camouflage.isHidden(element, style, ground, () => boxOf(element))) return
    this.#add(text, { visibility: style.visibility, whiteSpaceCollapse: 'collapse', textTransform: 'none' })
  }

  #addGenerated({ element, scene, ground }: OpenElement, found: Generated | undefined): void {
    if (!found || !isShowing(scene) || !isShownByStyle(element, found.style, scene.opacity)) return
    // Nobody knows where a pseudo-element with a position is.
    const own = groundOf(element, found.style, /absolute|fixed/.test(found.style.position) ? undefined : ground)
    if (own === ground ? this.#camouflage.isHidden(element, found.style, own, () => boxOf(element)) : isLike(found.style, own)) return
    const breaks = breaksOf(found.style.display, '')
    this.#break(breaks)
    this.#add(found.text, found.style)
    this.#break(breaks)
  }

  /** Two fields side by side are not one word. */
  #addField(name: string, text: string, shown: TextStyle): void {
    if (text === '') return
    if (name === 'img') this.#add(text, shown)
    else for (const part of [' ', text, ' ']) this.#add(part, part === text ? { ...shown, whiteSpaceCollapse: 'preserve' } : shown)
  }

  #break(count: number): void {
    if (this.#parts.length > 0) this.#breaks = Math.max(this.#breaks, count)
  }

  #add(data: string, { visibility, whiteSpaceCollapse, textTransform }: TextStyle): void {
    if (visibility !== 'visible') return
    const isPreformatted = /preserve|break/.test(whiteSpaceCollapse)
    const last = this.#parts.at(-1) ?? ''
    const isAtStart = this.#breaks > 0 || last === '' || /\s/.test(last.at(-1) ?? '')
    const collapsed = isPreformatted ? data : data.replace(/[ \t\n\r\f]+/g, ' ')
    const text = isAtStart && !isPreformatted ? collapsed.replace(/^ /, '') : collapsed
    if (text === '') return
    if (this.#breaks > 0) {
      if (last.endsWith(' ')) this.#parts[this.#parts.length - 1] = last.slice(0, -1)
      this.#parts.push('\n'.repeat(this.#breaks))
    }
    this.#breaks = 0
    this.#parts.push(transform(text, textTransform, isAtStart))
  }
}

/** False for a marker that is left of the page, or right of it in a list that is read from the right. */
function isMarkerSeen({ left, top, right, bottom }: Area, { text, style }: Generated, { flow }: Scene): boolean {
  const width = (Number.parseFloat(style.fontSize) * text.length) / 2
  if (style.listStylePosition !== 'outside') return width > 0
  const [start, end] = style.direction === 'rtl' ? [right, right + width] : [left - width, left]
  return isSeenIn({ left: start, top, right: end, bottom }, flow)
}

/** Also the document of a frame. What a frame has itself is for browsers without frames. */
function contentOf(element: Element, name: string, frame: Document | undefined, style: CSSStyleDeclaration): Iterable<Node> {
  const root = frame?.documentElement as Element | null | undefined
  if (root) return [root]
  return name === 'iframe' || name === 'frame' ? [] : partsOf(element, style)
}

/** Number of line breaks before and after a box. */
const breaksOf = (display: string, name: string): number =>
  BLOCK.test(display) && !display.startsWith('table-cell') ? (name === 'p' ? 2 : 1) : 0

function transform(text: string, how: string, isAtStart: boolean): string {
  if (how === 'uppercase') return text.toUpperCase()
  if (how === 'lowercase') return text.toLowerCase()
  if (how !== 'capitalize') return text
  return text.replace(/(^|[^\p{L}\p{N}\p{M}'’])(\p{L})/gu, (all, before: string, letter: string, at: number) =>
    before === '' && at === 0 && !isAtStart ? all : before + letter.toUpperCase(),
  )
}

/** Characters that nobody sees: soft hyphens, marks of direction, joiners, variation selectors and spaces without width. */
const INVISIBLE = /\u034F|[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|\uFE0E|\uFE0F/g
/** Two letters in one character. */
const LIGATURES = /[\u0132\u0133\u01C4-\u01CC\u01F1-\u01F3\uFB00-\uFB17]/g
const APOSTROPHES = /[\u2018-\u201B\u2032\u02B9\u02BC\u00B4`\uFF07]/g
const QUOTES = /[\u201C-\u201F\u2033\uFF02]/g
const HYPHENS = /[\u2010\u2011]/g

/** A form that is equal for texts that look the same, regardless of case and white space. */
export const foldText = (text: string): string =>
  text
    .replace(INVISIBLE, '')
    .replace(LIGATURES, (letters) => letters.normalize('NFKC'))
    .normalize('NFC')
    // ß and ẞ become SS, and all forms of i become one.
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFC')
    .replace(/i\u0307/g, 'i')
    .replace(/ς/g, 'σ')
    .replace(APOSTROPHES, "'")
    .replace(QUOTES, '"')
    .replace(HYPHENS, '-')
    .replace(/\s+/g, ' ')

/** A text for a file: in composed form, without soft hyphens and spaces without width. Joiners change the shapes of letters, so they stay. */
export const toSavedText = (text: string): string =>
  text
    .replace(/[\u00AD\u200B\uFEFF]/g, '')
    .normalize('NFC')
    .toWellFormed()

/** The beginning of a text, without half of a character at its end. */
export const cut = (text: string, length: number): string =>
  text
    .toWellFormed()
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')
