/** Page data that selects hiding rules. */
export interface PageFacts {
  url: string
  ids: string[]
  classes: string[]
  hrefs: string[]
}

/** Maximum number of names. Beyond it, a lookup would take longer than painting. */
const MAX_NAMES = 20_000

/** JavaScript expression for the page's data. */
export const pageFacts = `(() => {
  const ids = new Set(), classes = new Set(), hrefs = new Set()
  for (const element of document.querySelectorAll('[id], [class], [href]')) {
    if (ids.size + classes.size + hrefs.size > ${MAX_NAMES}) break
    if (element.id) ids.add(String(element.id))
    for (const name of element.classList) classes.add(name)
    const href = element.getAttribute('href')
    if (href) hrefs.add(href)
  }
  return { url: location.href, ids: [...ids], classes: [...classes], hrefs: [...hrefs] }
})()`
