import { type ContextPlan, isAdaptable } from '../plan/plan.ts'
import { abortable, bounded } from '../runtime/race.ts'
import type { RunningBrowser } from './browser.ts'
import { adaptTab, type Tab } from './tab.ts'

/** Time limit for opening a tab. */
const TAB_MILLISECONDS = 10_000

/** A running browser and its next tab. */
export class PreparedBrowser {
  readonly browser: RunningBrowser
  readonly startedAt = performance.now()
  account: string | undefined
  captures = 0
  /** Number of lent tabs. The tab of one capture may still be closing when the next one is lent. */
  lent = 0
  /** Those that have not been returned. */
  inUse = 0
  /** It failed to close a page or retains too much memory, so it is replaced after its current captures. */
  isWornOut = false
  readonly #plan: ContextPlan
  #next: Promise<Tab> | undefined
  /** End of the last check of that tab. Never rejects. */
  #check: Promise<void> | undefined

  /** @param plan of the tabs that are opened ahead */
  constructor(browser: RunningBrowser, plan: ContextPlan) {
    this.browser = browser
    this.#plan = plan
    this.prepareNext()
  }

  /** The tab that was opened ahead. */
  get next(): Promise<Tab> | undefined {
    return this.#next
  }

  /** Opens a tab ahead, unless there is one. */
  prepareNext(): void {
    if (this.#next !== undefined) return
    const next = this.browser.openTab(this.#plan)
    this.#next = next
    next.then(
      ({ ended }) => ended.addEventListener('abort', () => this.#forget(next), { once: true }),
      // The capture that uses the tab reports the error.
      () => {},
    )
  }

  /** The tab that was opened ahead, if the plan needs no other one. @throws the signal's reason; what the browser says */
  async openTab(plan: ContextPlan, signal: AbortSignal): Promise<Tab> {
    using time = bounded(signal, TAB_MILLISECONDS, () => new Error('the browser did not open a page in time'))
    const isPrepared = isAdaptable(plan, this.#plan)
    const next = isPrepared ? (this.#next ?? this.browser.openTab(this.#plan)) : this.browser.openTab(plan)
    if (next === this.#next) this.#next = undefined
    try {
      const tab = await abortable(next, time.signal)
      if (isPrepared) {
        // After a screenshot with a clip, Chromium restores the window size that it had before. It must not undo the change of the size.
        await abortable(this.#check ?? Promise.resolve(), time.signal)
        await abortable(adaptTab(tab, this.#plan, plan), time.signal)
      }
      if (tab.frames) tab.frames.isWatched = this.#plan.frameControl !== undefined
      return tab
    } catch (error) {
      discard(next)
      throw error
    }
  }

  /** Takes a small screenshot in the next tab. Without a tab, which a capture has just taken, it takes none. @throws when the screenshot fails */
  takeTestScreenshot(): Promise<void> {
    const check = this.#next?.then(takeSmallScreenshot) ?? Promise.resolve()
    // Without its results, which contain those of all checks before.
    this.#check = Promise.allSettled([this.#check, check]).then(() => {})
    return check
  }

  /** Kills the browser and closes the egress session of its unused tab. */
  end(): void {
    this.browser.kill()
    if (this.#next) discard(this.#next)
  }

  /** Discards the waiting tab after it has crashed. */
  #forget(next: Promise<Tab>): void {
    if (this.#next !== next) return
    this.#next = undefined
    discard(next)
  }
}

async function takeSmallScreenshot({ session, frames, ended }: Tab): Promise<void> {
  const clip = { x: 0, y: 0, width: 8, height: 8, scale: 1 }
  frames?.start()
  // Commands to a browser that is being killed never return.
  const { data } = await abortable(session.send('Page.captureScreenshot', { format: 'png', clip }), ended)
  await frames?.stop(ended)
  if (data === '') throw new Error('the picture is empty')
}

/** Closes an unused tab as soon as it is open. */
function discard(next: Promise<Tab>): void {
  next.then(
    ({ egress, close }) => {
      egress.close()
      close().catch(() => {})
    },
    () => {},
  )
}
