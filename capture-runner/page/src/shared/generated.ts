// The text that style sheets generate before and after the content of elements, with the values of counters.

import { attributeOf, call, isHtml, nameOf, queryAll, type Root } from './dom.ts'
import { findMatches, findRoots } from './tree.ts'

/** Generated text as the page shows it. */
export interface Generated {
  text: string
  style: CSSStyleDeclaration
}

interface Counter {
  value: number
  /** Depth of the element that created it. It ends with the parent of that element. */
  depth: number
  /** What an item of a list adds. */
  step: number
}

const PART =
  /"((?:[^"\\]|\\[\s\S])*)"|(counters?)\(\s*([^\s,)]+)\s*(?:,\s*"((?:[^"\\]|\\.)*)"\s*)?(?:,\s*([a-z-]+)\s*)?\)|(open|close)-quote|url\("(?:[^"\\]|\\.)*"\)|(\/)/g

/** Letters of icon fonts, which no reader can read. */
const ICONS = /[\uE000-\uF8FF\u{F0000}-\u{10FFFD}]/gu

/** Reads generated texts. Visit all elements in the order in which they are shown. */
export class GeneratedText {
  readonly #counters = new Map<string, Counter[]>()
  readonly #hosts: PseudoHosts
  #quotes = 0

  constructor(hosts: PseudoHosts) {
    this.#hosts = hosts
  }

  /** @param depth of the element in the tree that is shown */
  enter(element: Element, style: CSSStyleDeclaration, depth: number): void {
    const { display } = style
    const { counterReset, counterIncrement, counterSet } = this.#hosts.hasCounters ? style : NO_COUNTERS
    const list = isHtml(element) ? listCounters(element, display, counterIncrement) : undefined
    if (list?.start !== undefined) this.#create('list-item', list.start, depth, list.step)
    for (const [name, value] of pairsOf(counterReset)) this.#create(name, value, depth)
    if (list?.item) {
      const counter = this.#at('list-item', depth)
      counter.value += counter.step
    }
    for (const [name, value] of pairsOf(counterIncrement)) this.#at(name, depth).value += value
    if (list?.value !== undefined) this.#at('list-item', depth).value = list.value
    for (const [name, value] of pairsOf(counterSet)) this.#at(name, depth).value = value
  }

  leave(depth: number): void {
    for (const counters of this.#counters.values()) while ((counters.at(-1)?.depth ?? 0) > depth) counters.pop()
  }

  /** The text beside the content of an element; undefined if there is none. */
  read(element: Element, pseudo: Pseudo, depth: number): Generated | undefined {
    if (!this.#hosts.has(element, pseudo)) return undefined
    const style = getComputedStyle(element, pseudo)
    const { content } = style
    if (content === 'none' || content === 'normal' || content === '' || style.display === 'none') return undefined
    if (pseudo !== '::marker') this.enter(element, countersOnly(style), depth + 1)
    const text = this.#toText(content).replace(ICONS, '')
    return text === '' ? undefined : { text, style }
  }

  /** The words or the number of a list's marker. Bullets are neither. */
  readMarker(element: Element, style: CSSStyleDeclaration, depth: number): Generated | undefined {
    const own = this.read(element, '::marker', depth)
    const { listStyleType } = style
    const isNumber = NUMERAL.test(listStyleType)
    if (own || !(isNumber || listStyleType.startsWith('"')) || style.listStyleImage !== 'none') return own
    const marker = this.#hosts.stylesMarkers ? getComputedStyle(element, '::marker') : style
    if (marker !== style && marker.content !== 'normal') return undefined
    if (isNumber) return { text: `${this.#toNumbers('list-item', 'counter', '', listStyleType)}. `, style: marker }
    const text = this.#toText(listStyleType).replace(ICONS, '')
    return /\p{L}/u.test(text) ? { text, style: marker } : undefined
  }

  #create(name: string, value: number, depth: number, step = 1): void {
    const counters = this.#counters.get(name) ?? []
    // A sibling starts the same counter again.
    if (counters.at(-1)?.depth === depth) counters.pop()
    this.#counters.set(name, [...counters, { value, depth, step }])
  }

  #at(name: string, depth: number): Counter {
    const found = this.#counters.get(name)?.at(-1)
    if (found) return found
    const counter = { value: 0, depth, step: 1 }
    this.#counters.set(name, [counter])
    return counter
  }

  #toText(content: string): string {
    let text = ''
    for (const [, quoted, kind, name = '', separator = '', style = '', quote, slash] of content.matchAll(PART)) {
      // What follows is for screen readers.
      if (slash !== undefined) break
      if (quoted !== undefined) text += toPlain(quoted)
      else if (kind !== undefined) text += this.#toNumbers(name, kind, separator, style)
      else if (quote === 'open') text += this.#quotes++ % 2 === 0 ? '“' : '‘'
      else if (quote === 'close' && this.#quotes > 0) text += --this.#quotes % 2 === 0 ? '”' : '’'
    }
    return text
  }

  #toNumbers(name: string, kind: string, separator: string, style: string): string {
    const values = (this.#counters.get(name) ?? []).map(({ value }) => toNumeral(value, style))
    if (values.length === 0) return toNumeral(0, style)
    return kind === 'counters' ? values.join(toPlain(separator)) : (values.at(-1) ?? '')
  }
}

const NO_COUNTERS = { counterReset: 'none', counterIncrement: 'none', counterSet: 'none' }
/** Styles of lists that number their items, as far as {@link toNumeral} knows them. */
const NUMERAL = /^(decimal(-leading-zero)?|(lower|upper)-(alpha|latin|roman)|lower-greek)$/

/** Counters of a pseudo-element. Its element has the attributes of a list. */
const countersOnly = ({ counterReset, counterIncrement, counterSet }: CSSStyleDeclaration) =>
  ({ counterReset, counterIncrement, counterSet, display: 'inline' }) as CSSStyleDeclaration

/** How elements of lists change the counter that browsers keep for them. */
function listCounters(
  element: Element,
  display: string,
  increments: string,
): { start?: number; step?: number; item?: boolean; value?: number } {
  const name = nameOf(element)
  const numberOf = (attribute: string) => Number.parseInt(attributeOf(element, attribute) ?? '', 10)
  if (name === 'ol' || name === 'ul' || name === 'menu') {
    const start = name === 'ol' ? numberOf('start') : Number.NaN
    const isReversed = name === 'ol' && attributeOf(element, 'reversed') !== null
    const step = isReversed ? -1 : 1
    return { start: (Number.isNaN(start) ? (isReversed ? countItems(element) : 1) : start) - step, step }
  }
  const value = name === 'li' ? numberOf('value') : Number.NaN
  const item = /\blist-item\b/.test(display) && !/\blist-item\b/.test(increments)
  return { item, ...(Number.isNaN(value) ? {} : { value }) }
}

/** The items that a list numbers. */
const countItems = (list: Element): number =>
  queryAll(list, 'li').filter((item) => call(item, 'closest', 'ol, ul, menu') === list && /list-item/.test(getComputedStyle(item).display))
    .length

/** Names and values of a computed property such as `chapter 1 section 0`. */
const pairsOf = (value: string): [name: string, value: number][] =>
  value === 'none' ? [] : [...value.matchAll(/([^\s]+) (-?\d+)/g)].map(([, name = '', number]) => [name, Number(number)])

/** The text of a CSS string. */
const toPlain = (text: string): string =>
  text.replace(/\\(?:([0-9a-f]{1,6})\s?|([\s\S]))/gi, (_, code: string | undefined, letter: string | undefined) =>
    code === undefined ? (letter ?? '') : String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)),
  )

/** Roman numerals with their values. */
const ROMAN = 'm1000 cm900 d500 cd400 c100 xc90 l50 xl40 x10 ix9 v5 iv4 i1'
const BULLETS: Readonly<Record<string, string>> = { disc: '•', circle: '◦', square: '▪', none: '' }

/** A number in a style of lists. Styles that are not here show decimal numbers. */
function toNumeral(value: number, style: string): string {
  const bullet = BULLETS[style]
  if (bullet !== undefined) return bullet
  if (style === 'decimal-leading-zero') return `${value < 0 ? '-' : ''}${String(Math.abs(value)).padStart(2, '0')}`
  if (style === 'lower-greek') return value < 1 ? String(value) : toLetters(value, GREEK)
  const [, size, kind] = /^(lower|upper)-(alpha|latin|roman)$/.exec(style) ?? []
  if (kind === undefined || value < 1 || (kind === 'roman' && value > 3_999)) return String(value)
  const letters = kind === 'roman' ? toRoman(value) : toLetters(value)
  return size === 'upper' ? letters.toUpperCase() : letters
}

function toRoman(value: number): string {
  let rest = value
  let text = ''
  for (const [, letters = '', number] of ROMAN.matchAll(/([a-z]+)(\d+)/g)) {
    text += letters.repeat(Math.floor(rest / Number(number)))
    rest %= Number(number)
  }
  return text
}

const LATIN = 'abcdefghijklmnopqrstuvwxyz'
const GREEK = 'αβγδεζηθικλμνξοπρστυφχψω'

function toLetters(value: number, letters = LATIN): string {
  const { length } = letters
  return (value > length ? toLetters(Math.floor((value - 1) / length), letters) : '') + letters[(value - 1) % length]
}

// Elements to which style sheets may add words. To ask the browser for the pseudo-elements of each element takes longer than all else.

/** Parts of selectors that refer to other elements or trees than those in which a search would look. */
const ELSEWHERE = /&|:scope|:host|::slotted|::part/
/** A pseudo-element for words, with what follows it. */
const PSEUDO = /::?(before|after|marker)\b[^,]*/g
/** Values of `content` that are not words: none, or letters of icon fonts. */
const WORDLESS = /^(none|normal|"[\uE000-\uF8FF\u{F0000}-\u{10FFFD}]*"|)$/u

type Pseudo = '::before' | '::after' | '::marker'
type Name = 'before' | 'after' | 'marker'

/** The elements of pseudo-elements. */
const toHosts = (selector: string): string => selector.replace(PSEUDO, '').replace(/(^|[\s>+~,])(?=,|$)/g, '$1*')

/** Finds them once, with the style sheets as they are. */
export class PseudoHosts {
  readonly #found: Record<Name, Set<Element> | 'any'>

  /** Selectors of elements whose pseudo-elements have backgrounds. */
  readonly #painting: { root: Root; selector: string }[] = []

  /** True if style sheets may change counters. Browsers count the items of lists without them. */
  hasCounters = false

  /** True if markers may have a style of their own. */
  stylesMarkers = false

  /** True if a style sheet could not be read. */
  #isBlind = false

  constructor() {
    // The style sheet of the browser has words for quotations only.
    const quotations = findMatches('q')
    this.#found = { before: new Set(quotations), after: new Set(quotations), marker: new Set() }
    for (const root of findRoots()) {
      for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) if (!sheet.disabled) this.#addSheet(sheet, root)
    }
  }

  has(element: Element, pseudo: Pseudo): boolean {
    const found = this.#found[pseudo.slice(2) as Name]
    return found === 'any' || found.has(element)
  }

  /** Elements whose pseudo-elements may have backgrounds. */
  findPainting(): readonly Element[] | 'any' {
    if (this.#isBlind || this.#painting.some(({ selector }) => ELSEWHERE.test(selector))) return 'any'
    return this.#painting.flatMap(({ root, selector }) => queryAll(root, toHosts(selector)))
  }

  /** Sheets of other origins cannot be read. */
  #addSheet(sheet: CSSStyleSheet, root: Root): void {
    try {
      this.#addRules(sheet.cssRules, root)
    } catch {
      this.hasCounters = true
      this.#isBlind = true
      this.stylesMarkers = true
      for (const name of ['before', 'after', 'marker'] as const) this.#found[name] = 'any'
    }
  }

  #addRules(rules: CSSRuleList, root: Root): void {
    for (const rule of rules) {
      if ('selectorText' in rule && 'style' in rule) this.#addRule(rule as CSSStyleRule, root)
      if ('cssRules' in rule) this.#addRules(rule.cssRules as CSSRuleList, root)
      if ('styleSheet' in rule && rule.styleSheet) this.#addSheet(rule.styleSheet as CSSStyleSheet, root)
    }
  }

  #addRule({ selectorText, style }: CSSStyleRule, root: Root): void {
    const names = [...new Set([...selectorText.matchAll(PSEUDO)].map(([, name]) => name as Name))]
    const { content, counterReset, counterIncrement, counterSet, background, backgroundColor, backgroundImage } = style
    if (names.length > 0 && background + backgroundColor + backgroundImage !== '') this.#painting.push({ root, selector: selectorText })
    this.stylesMarkers ||= names.includes('marker')
    this.hasCounters ||= /list-item/.test(counterReset + counterIncrement + counterSet)
    if (names.length === 0 || (WORDLESS.test(content) && counterReset + counterIncrement + counterSet === '')) return
    this.hasCounters ||= /counter|var\(/.test(content)
    for (const name of names) {
      const found = this.#found[name]
      if (found === 'any') continue
      const selector = toHosts(selectorText)
      if (ELSEWHERE.test(selectorText)) this.#found[name] = 'any'
      else for (const element of queryAll(root, selector)) found.add(element)
    }
  }
}
