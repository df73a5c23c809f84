import type { PageFunctions } from '../../../src/page/functions.ts'

export const readPageFacts: PageFunctions['readPageFacts'] = (maxNames) => {
  const ids = new Set<string>()
  const classes = new Set<string>()
  const hrefs = new Set<string>()
  for (const element of document.querySelectorAll('[id], [class], [href]')) {
    if (ids.size + classes.size + hrefs.size > maxNames) break
    if (element.id) ids.add(String(element.id))
    for (const name of element.classList) classes.add(name)
    const href = element.getAttribute('href')
    if (href) hrefs.add(href)
  }
  return { url: location.href, ids: [...ids], classes: [...classes], hrefs: [...hrefs] }
}

export const countElements: PageFunctions['countElements'] = () => document.getElementsByTagName('*').length
