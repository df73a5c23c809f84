import { callInPage } from '../../page/call.ts'
import type { Step } from '../step.ts'

// Menus and tables of contents highlight the link of the current section (scroll spy). The sweep and the tall window change the highlight.
// A full-page screenshot shows the links as they were at the top of the page: `conceal` restores them.

/** Records the state of links to sections before the page is scrolled. */
export const noteSectionLinks: Step = {
  name: 'noteSectionLinks',
  isWanted: (plan) => plan.picture.reveal,
  run: (work) => callInPage(work, 'noteSectionLinks'),
}
