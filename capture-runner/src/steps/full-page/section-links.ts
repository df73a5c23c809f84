import type { Step, Work } from '../step.ts'

// Menus and tables of contents highlight the link of the current section (scroll spy). The sweep and the tall window change the highlight.
// A full-page screenshot shows the links as they were at the top of the page.

/** Records the state of links to sections before the page is scrolled. */
export const noteSectionLinks: Step = {
  name: 'noteSectionLinks',
  isWanted: (plan) => plan.picture.reveal,
  run: async ({ tab, signal }) => tab.evaluate(NOTE, signal),
}

/** Restores the classes that section links had at the top. The page's scripts must be off. */
export const restoreSectionLinks = ({ tab, signal }: Work): Promise<void> => tab.evaluate(RESTORE, signal)

/** Runs in the page. A highlight is a class of the link or of an enclosing list item, or `aria-current`. */
const NOTE = `(() => {
  const noted = globalThis.tintypeSectionLinks = new Map()
  for (const link of document.querySelectorAll('a[href*="#"]')) {
    if (link.hash.length < 2 || link.pathname !== location.pathname || link.host !== location.host) continue
    let id
    try { id = decodeURIComponent(link.hash.slice(1)) } catch { continue }
    if (!document.getElementById(id)) continue
    for (let element = link; element && (element === link || element.localName === 'li'); element = element.parentElement?.closest('li')) {
      if (noted.has(element)) break
      noted.set(element, { class: element.getAttribute('class'), 'aria-current': element.getAttribute('aria-current') })
    }
  }
})()`

/** Runs in the page. */
const RESTORE = `(() => {
  const changed = []
  for (const [element, attributes] of globalThis.tintypeSectionLinks ?? []) {
    for (const [name, value] of Object.entries(attributes)) {
      if (element.getAttribute(name) === value) continue
      if (value === null) element.removeAttribute(name)
      else element.setAttribute(name, value)
      changed.push(element)
    }
  }
  for (const element of changed) {
    for (const animation of element.getAnimations({ subtree: true })) if (animation instanceof CSSTransition) animation.finish()
  }
})()`
