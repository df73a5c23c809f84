import { awaitResponse } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'

/** Stops all scripts of the page and its frames for good. Style sheets and `<noscript>` continue as if scripts were enabled. */
export async function stopScripts(work: Work): Promise<void> {
  const { tab, signal } = work
  await inDocument(work, undefined, () => tab.evaluate(KEEP_SCRIPTING_RULES, signal))
  const disable = { value: true }
  for (const frame of await tab.foreignFrames()) frame.send('Emulation.setScriptExecutionDisabled', disable).catch(() => {})
  await awaitResponse(tab.session.send('Emulation.setScriptExecutionDisabled', disable), signal)
}

/**
 * Runs in the page. Replaces media queries for `scripting` by their current result. Style sheets of other origins are not accessible and keep their
 * queries.
 */
const KEEP_SCRIPTING_RULES = `(() => {
  const fix = (media) => {
    if (/\\bscripting\\b/.test(media.mediaText)) media.mediaText = matchMedia(media.mediaText).matches ? 'all' : 'not all'
  }
  const goThrough = (list) => {
    for (const rule of list) {
      if (rule.media) fix(rule.media)
      if (rule.cssRules) goThrough(rule.cssRules)
      else if (rule.styleSheet) goThroughSheet(rule.styleSheet)
    }
  }
  const goThroughSheet = (sheet) => {
    if (sheet.media) fix(sheet.media)
    try { goThrough(sheet.cssRules) } catch {}
  }
  const go = (root) => {
    for (const sheet of [...root.styleSheets, ...root.adoptedStyleSheets]) goThroughSheet(sheet)
    let hasNoscript = false
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) go(element.shadowRoot)
      else if (element.localName === 'noscript') hasNoscript = true
      else if (element.localName === 'iframe') {
        try { if (element.contentDocument) go(element.contentDocument) } catch {}
      }
    }
    if (!hasNoscript) return
    const hidden = new (root.ownerDocument ?? root).defaultView.CSSStyleSheet()
    hidden.replaceSync('noscript { display: none !important }')
    root.adoptedStyleSheets.push(hidden)
  }
  go(document)
})()`
