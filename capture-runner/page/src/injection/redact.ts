import type { PageFunctions } from '../../../src/page/functions.ts'
import { call, nameOf, queryAll, type Root, read, write } from '../shared/dom.ts'
import { findMatches, findRoots, shadowRootOf } from '../shared/tree.ts'

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
