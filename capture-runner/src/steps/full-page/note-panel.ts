import type { Step } from '../step.ts'

/** Minimum share of the window that an inner scrolling panel must cover. */
const MIN_SHARE = 0.5

/** Adds a warning for a full page that does not scroll itself but contains a large scrolling panel. Names the option that captures it. */
export const notePanel: Step = {
  name: 'notePanel',
  isWanted: ({ picture, pages }) => picture.fullPage && picture.scrollContainer === undefined && pages === undefined,
  run: async ({ tab, findings, signal }) => {
    if (!(await tab.evaluate<boolean>(SCROLLS_INSIDE, signal))) return
    findings.warnings.push(
      'the picture shows one window: the page scrolls in an inner panel. Set full_page_scroll_container to auto to capture all of it',
    )
  },
}

const SCROLLS_INSIDE = `(() => {
  const root = document.scrollingElement ?? document.documentElement
  if (!root || root.scrollHeight > innerHeight + 1) return false
  const isLarge = ({ clientWidth, clientHeight }) => clientWidth * clientHeight >= ${MIN_SHARE} * innerWidth * innerHeight
  const scrolls = (element) => {
    const { overflowY, visibility } = getComputedStyle(element)
    return /auto|scroll|overlay/.test(overflowY) && visibility === 'visible'
  }
  return [...document.querySelectorAll('body *')].some(
    (element) => element.scrollHeight > element.clientHeight + 1 && isLarge(element) && scrolls(element),
  )
})()`
