import type { Step, Work } from '../step.ts'

// Menus and tables of contents mark the link to the section that the reader is at. The sweep, and the window as tall as the page, have them mark
// another section, or all. A full page shows them as they were at the top.

/** Notes how links to sections of the page look before the page is scrolled. */
export const noteSectionLinks: Step = {
  name: 'noteSectionLinks',
  isWanted: (plan) => plan.picture.reveal,
  run: async ({ tab, signal }) => tab.look(NOTE, signal),
}

/** Gives links to sections the classes that they had at the top. The page's scripts must be off. */
export const restoreSectionLinks = ({ tab, signal }: Work): Promise<void> => tab.look(RESTORE, signal)

/** Runs in the page. Marks are classes of a link or of the list items around it, or `aria-current`. */
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
