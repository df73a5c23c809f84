import type { Work } from '../step.ts'

/** Page size after scrolling, in CSS pixels. */
export interface Extent {
  scrollHeight: number
  windowHeight: number
}

/** Scrolls instantly, regardless of the page's scroll-behavior. Switches off lazy loading if the client wants that. */
export const scrollTo = ({ tab, plan, signal }: Work, offset: number): Promise<Extent> =>
  tab.evaluate<Extent>(
    `(() => {
  ${plan.picture.eagerImages ? EAGER : ''}
  scrollTo({ top: ${offset}, left: 0, behavior: 'instant' })
  const root = document.scrollingElement ?? document.documentElement
  return { scrollHeight: root.scrollHeight, windowHeight: innerHeight }
})()`,
    signal,
  )

/** Makes lazy images and frames load at once. */
export const EAGER = `for (const lazy of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) lazy.loading = 'eager'`
