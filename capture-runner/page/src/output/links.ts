// The links of the page.

import type { PageFunctions, PageLink } from '../../../src/page/functions.ts'
import { attributeOf, call, linkOf, read } from '../shared/dom.ts'
import { cut, toSavedText } from '../shared/text.ts'
import { findMatches } from '../shared/tree.ts'

/** Schemes that lead somewhere. Those of scripts and data do not. */
const SCHEME = /^(https?|mailto|tel|sms|ftp):/

/** The first link to a URL stands for all of them, with the first text that any of them has. */
export const readLinks: PageFunctions['readLinks'] = ({ links: maxLinks, url: maxUrl, text: maxText }) => {
  const found = new Map<string, PageLink>()
  let dropped = 0
  const known = new Set<string>()
  for (const element of findMatches('a[*|href], area[href]')) {
    const url = linkOf(element)?.href ?? ''
    if (!SCHEME.test(url)) continue
    const link = found.get(url)
    if (link) {
      if (link.text === '') link.text = textOf(element, maxText)
      link.isVisible ||= call(element, 'checkVisibility', { visibilityProperty: true })
    } else if (found.size < maxLinks && url.length <= maxUrl) {
      const rel = (attributeOf(element, 'rel') ?? '')
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => /^[a-z-]{1,32}$/.test(word))
      const isVisible = call(element, 'checkVisibility', { visibilityProperty: true })
      found.set(url, { url, text: textOf(element, maxText), rel: rel.slice(0, 8), isVisible })
    } else if (!known.has(url)) {
      dropped++
      if (known.size < maxLinks) known.add(url)
    }
  }
  return { links: [...found.values()], dropped }
}

/** What the link says, to readers or to screen readers. */
function textOf(element: Element, maxText: number): string {
  const shown = read(element, 'textContent') ?? ''
  const images = shown.trim() === '' ? [...call(element, 'querySelectorAll', 'img[alt]')].map((image) => attributeOf(image, 'alt')) : []
  const texts = [shown, ...images, attributeOf(element, 'aria-label'), attributeOf(element, 'alt'), attributeOf(element, 'title')]
  const text = texts.find((one) => one !== null && one.trim() !== '') ?? ''
  return cut(
    toSavedText(text.slice(0, maxText * 10))
      .replace(/\s+/g, ' ')
      .trim(),
    maxText,
  )
}
