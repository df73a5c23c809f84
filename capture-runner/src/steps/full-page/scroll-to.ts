import type { Work } from '../step.ts'

/** What the page measures after it was scrolled, in CSS pixels. */
export interface Extent {
  scrollHeight: number
  windowHeight: number
}

/** Scrolls there at once, whatever the page's own style; images that wait to be seen are told not to, unless the client wants them to. */
export const scrollTo = ({ tab, plan, signal }: Work, offset: number): Promise<Extent> =>
  tab.look<Extent>(
    `(() => {
  ${plan.picture.eagerImages ? EAGER : ''}
  scrollTo({ top: ${offset}, left: 0, behavior: 'instant' })
  const root = document.scrollingElement ?? document.documentElement
  return { scrollHeight: root.scrollHeight, windowHeight: innerHeight }
})()`,
    signal,
  )

/** Makes images and frames load that wait to be seen. */
export const EAGER = `for (const lazy of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) lazy.loading = 'eager'`
