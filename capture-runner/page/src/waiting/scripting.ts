import type { PageFunctions } from '../../../src/page/functions.ts'
import { queryAll, type Root } from '../shared/dom.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

/** Style sheets of other origins are not accessible and keep their queries. */
export const keepScriptingRules: PageFunctions['keepScriptingRules'] = () => {
  for (const root of findRoots()) {
    for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) keepInSheet(sheet)
    if (queryAll(root, 'noscript').length > 0) hideNoscript(root)
  }
}

/** A constructed sheet belongs to one document, so each frame needs a sheet of its own window. */
function hideNoscript(root: Root): void {
  const view = (root.ownerDocument ?? (root as Document)).defaultView as (Window & typeof globalThis) | null
  if (!view) return
  const sheet = new view.CSSStyleSheet()
  sheet.replaceSync('noscript { display: none !important }')
  root.adoptedStyleSheets.push(sheet)
}

function keepInSheet(sheet: CSSStyleSheet): void {
  keep(sheet.media)
  try {
    keepInRules(sheet.cssRules)
  } catch {
    // Another origin.
  }
}

function keepInRules(rules: CSSRuleList): void {
  for (const rule of rules) {
    const { media, cssRules, styleSheet } = rule as Partial<CSSMediaRule & CSSImportRule>
    if (media) keep(media)
    if (styleSheet) keepInSheet(styleSheet)
    else if (cssRules) keepInRules(cssRules)
  }
}

function keep(media: MediaList): void {
  if (/\bscripting\b/.test(media.mediaText)) media.mediaText = matchMedia(media.mediaText).matches ? 'all' : 'not all'
}

export const hasInlineScript: PageFunctions['hasInlineScript'] = (pattern) => {
  const wanted = new RegExp(pattern)
  return findMatches('script').some((element) => !(element as HTMLScriptElement).src && wanted.test(element.textContent ?? ''))
}
