import { callInPage } from '../../page/call.ts'
import type { Step } from '../step.ts'

/** Minimum share of the window that an inner scrolling panel must cover. */
const MIN_SHARE = 0.5

/** Adds a warning for a full page that does not scroll itself but contains a large scrolling panel. Names the option that captures it. */
export const notePanel: Step = {
  name: 'notePanel',
  isWanted: ({ picture, pages }) => picture.fullPage && picture.scrollContainer === undefined && pages === undefined,
  run: async (work) => {
    if (!(await callInPage(work, 'scrollsInside', MIN_SHARE))) return
    work.findings.warnings.push(
      'the picture shows one window: the page scrolls in an inner panel. Set full_page_scroll_container to auto to capture all of it',
    )
  },
}
