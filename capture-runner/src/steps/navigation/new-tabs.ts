import { cutText } from '@tintype/crds/text/cut-text'
import { siteOf } from '../../browser/site.ts'
import { callInPage } from '../../page/call.ts'
import { awaitResponse, pause } from '../../runtime/race.ts'
import { type Action, type ActionTabs, inDocument, type Work } from '../step.ts'
import { follow, warnOnce } from './navigate.ts'

// The browser blocks every new tab. One that an action of the client opens is opened in place of the page instead, or named in a warning. DevTools reports
// the attempt, so the page sees nothing but a blocked tab.

const URL_LENGTH = 200
/** How long the browser may take to leave the page. */
const OPEN_MILLISECONDS = 2_000
const OPENED = new Set(['http:', 'https:', 'blob:'])
/** Links that do nothing but run a handler. */
const NOTHING = /^javascript:\s*(?:void\b|;|$)/

/** Why a tab is not opened, and what to do. */
const REASONS = {
  posted: 'It gets a form by POST. Remove target from the form with scripts',
  foreign: 'A script opened it, and it is of another site. Capture that URL instead',
  unnamed: 'It has no URL that can be opened here',
  several: 'Use click to open one tab, or capture that URL instead',
  moved: 'The page went to another URL at the same time. Capture that URL instead',
  file: 'It returned no page',
} as const

/** The tabs that actions of the client open in a page. */
class NewTabs implements ActionTabs {
  readonly #work: Work
  /** The action that may open tabs now. */
  #action: Action | undefined
  #opening: Promise<boolean> | undefined
  #url = ''

  private constructor(work: Work) {
    this.#work = work
  }

  static async watch(work: Work): Promise<NewTabs> {
    const tabs = new NewTabs(work)
    const { session } = work.tab
    session.on('Page.windowOpen', ({ url, userGesture }) => userGesture && tabs.#note(url))
    session.on('Page.frameRequestedNavigation', ({ url, disposition }) => /^new/.test(disposition) && tabs.#note(url))
    await awaitResponse(session.send('Page.enable'), work.signal)
    return tabs
  }

  /** A click may open a tab later, too: in response to a request or a timer. */
  async during(action: Action, act: () => Promise<void>, arrive: () => Promise<void>): Promise<void> {
    const { tab } = this.#work
    const { document } = tab.lifecycle
    this.#action = action
    this.#opening = undefined
    try {
      await act()
      // Events that the action has caused may follow its response.
      await inDocument(this.#work, undefined, () => callInPage(this.#work, 'readUrl'))
    } finally {
      if (action === 'scripts') this.#action = undefined
    }
    const isOpened = await this.#opening
    await arrive()
    if (isOpened && tab.lifecycle.document === document) this.#warn(action, this.#url, 'file')
  }

  #note(url: string): void {
    const action = this.#action
    if (action === undefined || NOTHING.test(url)) return
    if (this.#opening || action === 'click_all') {
      this.#warn(action, url, 'several')
      return
    }
    this.#url = url
    this.#opening = this.#open(action, url)
    // The step that waits for it reports why it failed.
    this.#opening.catch(() => {})
  }

  /** Returns true if the page is being replaced by the tab. */
  async #open(action: Action, url: string): Promise<boolean> {
    const { lifecycle } = this.#work.tab
    const { document } = lifecycle
    const own = await inDocument(this.#work, undefined, () => callInPage(this.#work, 'readUrl'))
    if (url === own || url === lifecycle.destination) return false
    if (own === undefined || lifecycle.isMoving || lifecycle.document !== document) return this.#refuse(action, url, 'moved')
    if (!OPENED.has(URL.parse(url)?.protocol ?? '')) return this.#refuse(action, url, 'unnamed')
    const isSameSite = url.startsWith('blob:') || siteOf(url) === siteOf(own)
    // A place in the same document needs no other one.
    const isHere = url.split('#', 1)[0] === own.split('#', 1)[0] && url.includes('#')
    const outcome = await inDocument(this.#work, 'opened' as const, async () => {
      const opened = await callInPage(this.#work, 'openHere', url, isSameSite)
      if (opened === 'opened' && !isHere) await pause(OPEN_MILLISECONDS, this.#work.signal)
      return opened
    })
    if (outcome !== 'opened') return this.#refuse(action, url, outcome)
    return !isHere
  }

  #refuse(action: Action, url: string, reason: keyof typeof REASONS): false {
    this.#warn(action, url, reason)
    return false
  }

  #warn(action: Action, url: string, reason: keyof typeof REASONS): void {
    const begin = `${action} opened a new tab, which the picture does not show: `
    const { warnings } = this.#work.findings
    // Of several tabs, one is named.
    if (!warnings.some((warning) => warning.startsWith(begin)))
      warnOnce(warnings, `${begin}${cutText(url, URL_LENGTH)}. ${REASONS[reason]}`)
  }
}

/** Runs an action of the client. A tab that it opens replaces the page. */
export async function openTabsHere(work: Work, action: Action, act: () => Promise<void>, arrive = () => follow(work)): Promise<void> {
  work.newTabs ??= await NewTabs.watch(work)
  await work.newTabs.during(action, act, arrive)
}
