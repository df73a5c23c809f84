// A copy of what the page shows, in a document without a window. It has only elements and attributes that Markdown can use, and no forms: a form whose
// control is called `childNodes` would mislead the libraries that read the copy. Shadow roots and frames of the same process become plain elements.

import { attributeOf, call, createHtml, isHtml, linkOf, nameOf, queryAll, read } from '../shared/dom.ts'
import { textOfField } from '../shared/fields.ts'
import { cut } from '../shared/text.ts'
import { frameDocumentOf, partsOf } from '../shared/tree.ts'

/** Limits of a copy: nodes of the page that are visited, characters of text, and levels of elements. Deeper content moves up. */
const MAX_NODES = 100_000
const MAX_TEXT = 1_000_000
const MAX_LEVELS = 100

const SILENT = /^(script|style|template|head|title|canvas|video|audio|datalist|embed|meter|progress|svg|noembed|noframes)$/
const FIELD = /^(input|textarea|select)$/
const FRAME = /^(iframe|frame|object)$/
const INLINE = /^(a|abbr|b|cite|code|del|em|i|ins|kbd|mark|q|s|samp|small|strong|sub|sup|time|u|var)$/
const BLOCK =
  /^(address|article|aside|blockquote|caption|dd|details|div|dl|dt|figcaption|figure|footer|h[1-6]|header|hr|li|main|nav|ol|p|section|summary|table|tbody|td|tfoot|th|thead|tr|ul)$/
/** Elements that say something without content. */
const EMPTY = /^(td|th|hr|body)$/
/** Elements around the content of a page. */
const ASIDE = /^(nav|footer|aside|header|a|button|label)$/
/** What the libraries read beside the text. */
const KEPT = ['class', 'id', 'role', 'itemprop', 'rel', 'title', 'start', 'colspan'] as const
const MAX_VALUE = 256
const MAX_URL = 2_048
const MAX_ALT = 500
const SCHEME = /^(https?|mailto|tel):/

/** An element whose content is being copied. */
interface OpenElement {
  target: Element
  parts: Iterator<Node, undefined>
  level: number
  isShown: boolean
  isAside: boolean
  /** The text of code, which keeps its white space and has no elements. */
  isCode: boolean
}

/** The copy of a page. */
export interface ReadableCopy {
  document: Document
  /** Letters outside of links and of what surrounds the content. */
  proseLength: number
  /** The page has more than the limits allow. */
  isCut: boolean
}

/** Copies the page. Keeps the open elements in a list, because scripts can nest more of them than a function can call itself. */
export function copyReadable(): ReadableCopy {
  const inert = document.implementation.createHTMLDocument(cut(document.title, MAX_ALT))
  const copier = new Copier(inert)
  const root = document.documentElement as Element | null
  if (root) copier.copy(root)
  return { document: inert, proseLength: copier.proseLength, isCut: copier.isCut }
}

class Copier {
  proseLength = 0
  isCut = false
  readonly #inert: Document
  #nodes = 0
  #text = 0

  constructor(inert: Document) {
    this.#inert = inert
  }

  copy(root: Element): void {
    const top: OpenElement = {
      target: this.#inert.body,
      parts: [][Symbol.iterator](),
      level: 0,
      isShown: true,
      isAside: false,
      isCode: false,
    }
    const first = this.#enter(root, top)
    const open = first ? [first] : []
    for (let inner = open.at(-1); inner && !this.isCut; inner = open.at(-1)) {
      const { done, value: node } = inner.parts.next()
      if (done) {
        if (!inner.target.hasChildNodes() && !EMPTY.test(inner.target.localName)) inner.target.remove()
        open.pop()
        continue
      }
      this.isCut = ++this.#nodes > MAX_NODES || this.#text > MAX_TEXT
      if (node.nodeType === Node.TEXT_NODE) this.#addText((node as Text).data, inner)
      else if (node.nodeType === Node.ELEMENT_NODE) {
        const entered = this.#enter(node as Element, inner)
        if (entered) open.push(entered)
      }
    }
  }

  #addText(data: string, { target, isShown, isAside, isCode }: OpenElement): void {
    if (!isShown) return
    const text = isCode ? data : data.replace(/\s+/g, ' ')
    const room = cut(text, Math.max(0, MAX_TEXT - this.#text))
    target.append(room)
    this.#text += text.length
    if (!isAside) this.proseLength += text.replace(/\s+/g, '').length
  }

  /** Adds an element. Returns undefined if it has no content to copy. */
  #enter(element: Element, outer: OpenElement): OpenElement | undefined {
    const name = nameOf(element)
    if (SILENT.test(name) || (name === 'noscript' && !call(element, 'checkVisibility'))) return undefined
    const style = getComputedStyle(element)
    const { display } = style
    if (display === 'none' || style.opacity === '0' || isTiny(element, style)) return undefined
    const isVisible = style.visibility === 'visible'
    const inside = { level: outer.level + 1, isShown: isVisible, isAside: outer.isAside || ASIDE.test(name) }
    if (outer.isCode) {
      if (name === 'br' || (isBlockLike(display) && /[^\n]$/.test(outer.target.lastChild?.nodeValue ?? ''))) this.#addText('\n', outer)
      return { ...inside, target: outer.target, isCode: true, parts: partsOf(element, style)[Symbol.iterator]() }
    }
    if (name === 'br') outer.target.append(createHtml('br', this.#inert))
    if (name === 'img' && isVisible) this.#addImage(element as HTMLImageElement, outer.target)
    if (FIELD.test(name)) this.#addText(` ${textOfField(element) ?? ''} `, { ...outer, ...inside, isAside: true })
    if (name === 'br' || name === 'img' || FIELD.test(name)) return undefined
    const isCode = name === 'pre'
    const target = outer.level < MAX_LEVELS ? this.#add(element, name, display, outer.target) : outer.target
    return { ...inside, target, isCode, parts: contentOf(element, name, style)[Symbol.iterator]() }
  }

  #add(element: Element, name: string, display: string, parent: Element): Element {
    const isBlock = isBlockLike(display)
    const inline = isHtml(element) && INLINE.test(name)
    const level = attributeOf(element, 'role') === 'heading' ? (attributeOf(element, 'aria-level') ?? '2') : ''
    const known = /^[1-6]$/.test(level) ? `h${level}` : isHtml(element) && (inline || BLOCK.test(name) || name === 'pre') ? name : undefined
    const copy = createHtml((known ?? (isBlock ? 'div' : 'span')) as 'div', this.#inert)
    for (const attribute of KEPT) {
      const value = attributeOf(element, attribute)
      if (value !== null) copy.setAttribute(attribute, cut(value, MAX_VALUE))
    }
    if (name === 'a') setLink(copy, linkOf(element))
    // Links side by side are not one word.
    const place = inline && isBlock ? parent.appendChild(createHtml('div', this.#inert)) : parent
    place.append(copy)
    if (name !== 'pre') return copy
    const code = createHtml('code', this.#inert)
    const [, language] = /\blang(?:uage)?-([\w+#-]{1,32})/.exec(classesOfCode(element)) ?? []
    if (language !== undefined) code.className = `language-${language}`
    return copy.appendChild(code)
  }

  #addImage(image: HTMLImageElement, parent: Element): void {
    const [alt, source] = [attributeOf(image, 'alt') ?? '', read(image, 'currentSrc') || read(image, 'src')]
    // An image without a text tells a reader of Markdown nothing.
    if (alt.trim() === '') return
    const copy = createHtml('img', this.#inert)
    copy.setAttribute('alt', cut(alt.replace(/\s+/g, ' '), MAX_ALT))
    if (/^https?:/.test(source) && source.length <= MAX_URL) copy.setAttribute('src', source)
    parent.append(copy)
  }
}

/** True for a box of at most one pixel that cuts its content, such as texts for screen readers. */
const isTiny = (element: Element, { overflow, display, position }: CSSStyleDeclaration): boolean =>
  position === 'absolute' &&
  overflow !== 'visible' &&
  display !== 'contents' &&
  Math.min(read(element, 'clientWidth'), read(element, 'clientHeight')) <= 1

const isBlockLike = (display: string): boolean => !/^(inline|contents|ruby)/.test(display)

/** Also the document of a frame. What a frame has itself is for browsers without frames. */
function contentOf(element: Element, name: string, style: CSSStyleDeclaration): Iterable<Node> {
  const inner = FRAME.test(name) ? frameDocumentOf(element)?.documentElement : undefined
  if (inner) return [inner]
  return name === 'iframe' || name === 'frame' ? [] : partsOf(element, style)
}

const classesOfCode = (pre: Element): string =>
  [pre, ...queryAll(pre, ':scope > code')].map((element) => attributeOf(element, 'class') ?? '').join(' ')

function setLink(copy: Element, url: URL | undefined): void {
  if (url && SCHEME.test(url.href) && url.href.length <= MAX_URL && !isWithinPage(url)) copy.setAttribute('href', url.href)
}

/** Headings often link to themselves, and nobody can follow such a link in a file. */
const isWithinPage = ({ href, hash }: URL): boolean => hash !== '' && href.slice(0, -hash.length) === location.href.split('#')[0]
