import type { Step } from '../step.ts'

/** Parts of the window that a panel covers which scrolls in the page's stead. */
const MIN_SHARE = 0.5

/** After a full page was measured: names the option for pages that do not scroll themselves, but have a large panel that does. */
export const notePanel: Step = {
  name: 'notePanel',
  isWanted: ({ picture, pages }) => picture.fullPage && picture.scrollContainer === undefined && pages === undefined,
  run: async ({ tab, findings, signal }) => {
    if (!(await tab.look<boolean>(SCROLLS_INSIDE, signal))) return
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
