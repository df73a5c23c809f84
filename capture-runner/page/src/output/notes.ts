import type { DocumentNote, DocumentNotes, NoteLimits, PageFunctions } from '../../../src/page/functions.ts'
import { navigationTiming } from '../shared/timing.ts'

const TAGS = 'meta[property^="og:"], meta[name^="og:"], meta[name^="twitter:"], meta[property^="twitter:"], meta[name=description]'
const ICONS = 'link[rel~=icon], link[rel=apple-touch-icon], link[rel=apple-touch-icon-precomposed]'

export const readNotes: PageFunctions['readNotes'] = (wanted, limits) => {
  const found = wanted.map((note): [DocumentNote, unknown] => [note, READERS[note](limits)])
  return Object.fromEntries(found) as DocumentNotes
}

const READERS: { [Note in DocumentNote]: (limits: NoteLimits) => DocumentNotes[Note] } = {
  openGraph: () => {
    const tags = [...document.querySelectorAll<HTMLMetaElement>(TAGS)]
    const lines = tags.map((tag) => [String(tag.getAttribute('property') ?? tag.name).slice(0, 128), String(tag.content).slice(0, 1024)])
    return Object.fromEntries(lines.reverse().slice(-32).reverse()) as Record<string, string>
  },
  icon: ({ addressLength }) => {
    const links = [...document.querySelectorAll<HTMLLinkElement>(ICONS)]
    const best = links.filter(({ href }) => isShort(href, addressLength)).sort((a, b) => sizeOf(b) - sizeOf(a))[0]
    return best ? best.href : new URL('/favicon.ico', location.href).href
  },
  links: ({ addressLength }) => {
    const all = [...document.querySelectorAll<HTMLAnchorElement>('a[href]')].map(({ href }) => href)
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
    link.rel.includes('apple') ? 180 : 16,
  )
