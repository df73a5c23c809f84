import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, queryAll, read } from '../shared/dom.ts'

export const readPageFacts: PageFunctions['readPageFacts'] = (maxNames) => {
  const ids = new Set<string>()
  const classes = new Set<string>()
  const hrefs = new Set<string>()
  for (const element of queryAll(document, '[id], [class], [href]')) {
    if (ids.size + classes.size + hrefs.size > maxNames) break
    const id = attributeOf(element, 'id')
    if (id) ids.add(id)
    for (const name of read(element, 'classList')) classes.add(name)
    const href = attributeOf(element, 'href')
    if (href) hrefs.add(href)
  }
  return { url: location.href, ids: [...ids], classes: [...classes], hrefs: [...hrefs] }
}

export const countElements: PageFunctions['countElements'] = () => document.getElementsByTagName('*').length
