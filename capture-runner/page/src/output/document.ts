import type { DocumentNote, DocumentNotes, NoteLimits, PageFunctions } from '../../../src/page/functions.ts'
import { findForms, looksChallenged } from '../navigation/content.ts'
import { attributeOf, call, linkOf, queryAll, setStyle } from '../shared/dom.ts'
import { cut, readVisibleText, toSavedText } from '../shared/text.ts'
import { findMatches, findRoots } from '../shared/tree.ts'

/** The matches are hidden while the text is read, before the browser paints. */
export const readText: PageFunctions['readText'] = (hidden = [], hasOwnCanvas = false) => {
  const roots = hidden.length > 0 ? findRoots() : []
  const styled = hidden
    .flatMap((selector) => findMatches(selector, roots))
    .map((element) => [element, attributeOf(element, 'style')] as const)
  for (const [element] of styled) setStyle(element, { visibility: 'hidden' })
  const text = toSavedText(readVisibleText(hasOwnCanvas))
  for (const [element, style] of styled.reverse()) {
    if (style === null) call(element, 'removeAttribute', 'style')
    else call(element, 'setAttribute', 'style', style)
  }
  return text
}

export const readDocumentFacts: PageFunctions['readDocumentFacts'] = () => ({
  hasBody: document.body !== null,
  title: document.title.toWellFormed(),
  url: location.href,
  status: navigationTiming()?.responseStatus ?? 0,
  isChallenged: looksChallenged(),
  forms: findForms(),
})

const TAGS = 'meta[property^="og:"], meta[name^="og:"], meta[name^="twitter:"], meta[property^="twitter:"], meta[name=description]'
const ICONS = 'link[rel~=icon], link[rel=apple-touch-icon], link[rel=apple-touch-icon-precomposed]'

export const readNotes: PageFunctions['readNotes'] = (wanted, limits) => {
  const found = wanted.map((note): [DocumentNote, unknown] => [note, READERS[note](limits)])
  return Object.fromEntries(found) as DocumentNotes
}

const READERS: { [Note in DocumentNote]: (limits: NoteLimits) => DocumentNotes[Note] } = {
  openGraph: () => {
    const lines = queryAll(document, TAGS).map((tag) => [
      cut(attributeOf(tag, 'property') ?? attributeOf(tag, 'name') ?? '', 128),
      cut(attributeOf(tag, 'content') ?? '', 1024),
    ])
    return Object.fromEntries(lines.reverse().slice(-32).reverse()) as Record<string, string>
  },
  icon: ({ addressLength }) => {
    const links = queryAll(document, ICONS) as HTMLLinkElement[]
    const best = links.filter(({ href }) => isShort(href, addressLength)).sort((a, b) => sizeOf(b) - sizeOf(a))[0]
    return best ? best.href : new URL('/favicon.ico', location.href).href
  },
  links: ({ addressLength }) => {
    const all = queryAll(document, 'a[*|href]').map((link) => linkOf(link)?.href ?? '')
    return [...new Set(all.filter((href) => isShort(href, addressLength)))].slice(0, 100)
  },
  timings: () => {
    const navigation = navigationTiming()
    const paints = Object.fromEntries(performance.getEntriesByType('paint').map(({ name, startTime }) => [name, startTime]))
    const times = {
      response_start: navigation?.responseStart,
      response_end: navigation?.responseEnd,
      dom_interactive: navigation?.domInteractive,
      dom_content_loaded: navigation?.domContentLoadedEventEnd,
      load: navigation?.loadEventEnd,
      first_paint: paints['first-paint'],
      first_contentful_paint: paints['first-contentful-paint'],
    }
    return Object.fromEntries(
      Object.entries(times).flatMap(([name, time]) => (time !== undefined && time > 0 ? [[name, Math.round(time)]] : [])),
    )
  },
}

const isShort = (address: string, length: number): boolean => /^https?:/.test(address) && address.length <= length

/** Size of an icon in pixels, as far as its link says. */
const sizeOf = (link: HTMLLinkElement): number =>
  Math.max(
    ...(link.sizes?.value || '').split(/\s+/).map((text) => (text === 'any' ? 1e4 : Number.parseInt(text, 10) || 0)),
    link.rel?.includes('apple') ? 180 : 16,
  )

/** Times of the navigation that loaded the document. */
const navigationTiming = (): PerformanceNavigationTiming | undefined =>
  performance.getEntriesByType('navigation')[0] as PerformanceNavigationTiming | undefined
