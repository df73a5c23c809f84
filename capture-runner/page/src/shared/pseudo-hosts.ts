// Elements to which style sheets may add words. To ask the browser for the pseudo-elements of each element takes longer than all else.

import { queryAll, type Root } from './dom.ts'
import { findMatches, findRoots } from './tree.ts'

/** Parts of selectors that refer to other elements or trees than those in which a search would look. */
const ELSEWHERE = /&|:scope|:host|::slotted|::part/
/** A pseudo-element for words, with what follows it. */
const PSEUDO = /::?(before|after|marker)\b[^,]*/g
/** Values of `content` that are not words: none, or letters of icon fonts. */
const WORDLESS = /^(none|normal|"[\uE000-\uF8FF\u{F0000}-\u{10FFFD}]*"|)$/u

export type Pseudo = '::before' | '::after' | '::marker'
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
