import { isHtml, nameOf, read } from './dom.ts'
import { findRoots, frameDocumentOf, partsOf } from './tree.ts'

// The one way to read the text that a page shows. `innerText` leaves shadow roots and frames out, so pages that have them are read node by node.

/** The text that the page shows, in the document, in its shadow roots, and in the frames of its process. */
export function readVisibleText(): string {
  // A script can add elements beside the body.
  const root = document.documentElement as HTMLElement | null
  if (!root) return ''
  const isPlain = findRoots().length === 1 && isHtml(root)
  // biome-ignore lint/performance/useDomNodeTextContent: only innerText leaves out what is not shown
  return isPlain ? root.innerText : new TextCollector().collect(root)
}

/** Elements that show no text of their own, or show it in a picture. */
const SILENT = /^(script|style|template|noscript|head|title|canvas|video|audio|textarea|datalist|object|embed|svg:?title|desc|metadata)$/
const BLOCK = /^(?!inline|contents|ruby|none)/

/** Collects the text of a tree as `innerText` does: blocks on lines of their own, cells with tabs between them, spaces as shown. */
class TextCollector {
  #text = ''
  /** Line breaks that the next text needs before it. */
  #breaks = 0

  collect(element: Element): string {
    this.#visit(element)
    return this.#text
  }

  #visit(element: Element): void {
    const name = nameOf(element)
    const { display, visibility, whiteSpaceCollapse, textTransform } = getComputedStyle(element)
    if (display === 'none' || (SILENT.test(name) && element !== document.documentElement)) return
    if (name === 'br') {
      this.#text += '\n'
      return
    }
    const breaks = BLOCK.test(display) && !display.startsWith('table-cell') ? (name === 'p' ? 2 : 1) : 0
    this.#break(breaks)
    if (display === 'table-cell' && read(element, 'previousElementSibling') !== null) this.#text += '\t'
    const shown = { isVisible: visibility === 'visible', isPreformatted: /preserve|break/.test(whiteSpaceCollapse), textTransform }
    for (const node of this.#partsOf(element)) {
      if (node.nodeType === Node.TEXT_NODE) this.#add((node as Text).data, shown)
      else if (node.nodeType === Node.ELEMENT_NODE) this.#visit(node as Element)
    }
    this.#break(breaks)
  }

  /** Also the document of a frame. */
  #partsOf(element: Element): Iterable<Node> {
    const frame = frameDocumentOf(element)
    return frame ? [frame.body ?? frame.documentElement].filter((node) => node !== null) : partsOf(element)
  }

  #break(count: number): void {
    if (this.#text !== '') this.#breaks = Math.max(this.#breaks, count)
  }

  #add(
    data: string,
    { isVisible, isPreformatted, textTransform }: { isVisible: boolean; isPreformatted: boolean; textTransform: string },
  ): void {
    if (!isVisible) return
    const isAtStart = this.#breaks > 0 || /(^|\s)$/.test(this.#text)
    const collapsed = isPreformatted ? data : data.replace(/[ \t\n\r\f]+/g, ' ')
    const text = isAtStart && !isPreformatted ? collapsed.replace(/^ /, '') : collapsed
    if (text === '') return
    if (this.#breaks > 0) this.#text = `${this.#text.replace(/ $/, '')}${'\n'.repeat(this.#breaks)}`
    this.#breaks = 0
    this.#text += textTransform === 'uppercase' ? text.toUpperCase() : textTransform === 'lowercase' ? text.toLowerCase() : text
  }
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
