import type { PageFunctions } from '../../../src/page/functions.ts'
import { attributeOf, createHtml, linkOf, queryAll, read } from '../shared/dom.ts'
import { findMatches } from '../shared/tree.ts'

/** The link belongs to no document, so scripts of the page see neither it nor its click. */
export const openHere: PageFunctions['openHere'] = (url, isSameSite) => {
  const link = findMatches('a, area').find((one) => linkOf(one)?.href === url)
  const methods = link ? [] : findMatches('form').flatMap((form) => methodsFor(form, url))
  if (methods.includes('post')) return 'posted'
  if (!link && !isSameSite && methods.length === 0) return 'foreign'
  const opener = createHtml('a', document)
  opener.href = url
  opener.target = '_self'
  for (const name of ['rel', 'referrerpolicy']) opener.setAttribute(name, (link && attributeOf(link, name)) ?? '')
  opener.click()
  return 'opened'
}

/** Methods by which a form, or one of its buttons, sends to a URL. A form without `post` replaces the query. */
function methodsFor(form: Element, url: string): string[] {
  const own = { action: attributeOf(form, 'action'), method: attributeOf(form, 'method') }
  const buttons = queryAll(form, '[formaction], [formmethod]').map((button) => ({
    action: attributeOf(button, 'formaction') ?? own.action,
    method: attributeOf(button, 'formmethod') ?? own.method,
  }))
  return [own, ...buttons].flatMap(({ action, method }) => {
    const target = URL.parse(action ?? '', read(form, 'ownerDocument').baseURI)
    const kind = (method ?? 'get').toLowerCase()
    if (!target) return []
    if (kind !== 'post') target.search = new URL(url).search
    return target.href === url ? [kind] : []
  })
}
