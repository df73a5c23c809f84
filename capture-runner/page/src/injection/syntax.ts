import type { PageFunctions } from '../../../src/page/functions.ts'

// These check values of options on the browser's empty page.

/** An unclosed rule swallows the rules after it, which the added rule detects. */
export const findSelectorFault: PageFunctions['findSelectorFault'] = (selectors) => {
  const empty = document.createDocumentFragment()
  for (const [index, { text, isRule }] of selectors.entries()) {
    try {
      empty.querySelector(text)
    } catch {
      return { index, fault: 'invalid' }
    }
    if (!isRule) continue
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(`${text} {}\n.last {}`)
    if (sheet.cssRules.length < 2) return { index, fault: 'open' }
  }
  return null
}

const withoutComments = (css: string): string => css.replace(/\/\*[\s\S]*?(\*\/|$)/g, '')

/** Comments and imports do not count. */
export const hasNoRule: PageFunctions['hasNoRule'] = (text) => {
  const plain = withoutComments(text)
    .replace(/@(import|charset|namespace|layer)[^;]*(;|$)/gi, '')
    .trim()
  if (plain === '' || /<!--|-->/.test(plain)) return false
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(plain)
  return sheet.cssRules.length === 0
}

/** CSS-wide keywords such as `inherit` are no colors, because their value depends on the page. */
export const readTransparency: PageFunctions['readTransparency'] = (color) => {
  if (!CSS.supports('color', color) || /^(inherit|initial|unset|revert|revert-layer)$/i.test(color)) return null
  const element = document.createElement('i')
  element.style.backgroundColor = color
  document.documentElement.append(element)
  const computed = getComputedStyle(element).backgroundColor
  element.remove()
  const match = /^rgba\(.*, *([\d.e-]+)\)$|\/ *([\d.e-]+)(%?)\)$/.exec(computed)
  const [, alpha = '1', percent] = match?.filter((part) => part !== undefined) ?? []
  return 1 - Number(alpha) / (percent === '%' ? 100 : 1)
}

export const findUnknownFeatures: PageFunctions['findUnknownFeatures'] = (features) =>
  features.filter(([name, value]) => !matchMedia(`(${name}: ${value})`).matches).map(([name]) => name)

/** Also rejects frames, which are not printed. A document without a window loads nothing. */
export const findLoader: PageFunctions['findLoader'] = (html) => {
  const { body } = document.implementation.createHTMLDocument('')
  body.innerHTML = html
  const isForeign = (address: string | null | undefined) => !/^\s*(data:|#|$)/i.test(address ?? '')
  const frame = body.querySelector('iframe, frame, object, embed, fencedframe, portal')
  if (frame) return `<${frame.localName}>`
  if ([...body.querySelectorAll('link[href]')].some((link) => isForeign(link.getAttribute('href')))) return '<link>'
  for (const style of body.querySelectorAll('style')) {
    const css = withoutComments(style.textContent ?? '')
    const imports = [...css.matchAll(/@import\s*(?:url\(\s*)?["']?([^"')\s;]*)/gi)]
    if (imports.some(([, address]) => isForeign(address))) return '@import'
    const faces = [...css.matchAll(/@font-face\s*\{[^}]*\}/gi)].flatMap(([face]) => [...face.matchAll(/url\(\s*["']?([^"')\s]*)/gi)])
    if (faces.some(([, address]) => isForeign(address))) return 'the font of @font-face'
  }
  return null
}
