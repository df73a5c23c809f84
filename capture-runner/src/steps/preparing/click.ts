import { findKeys, pressKeys } from '../../browser/keyboard.ts'
import { callInPage } from '../../page/call.ts'
import type { Point } from '../../page/functions.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { findElement, isThere } from '../find-element.ts'
import { openTabsHere } from '../navigation/new-tabs.ts'
import type { Step, Work } from '../step.ts'
import { nextFrame } from '../waiting/page-time.ts'

/** Maximum number of clicks of `click_all`. */
const MAX_CLICKS = 50
/** How long to wait for a frame before a key is pressed. */
const FOCUS_MILLISECONDS = 500

/** Clicks the middle of the first visible match with mouse events, and follows a navigation. */
export const click: Step = {
  name: 'click',
  isWanted: (plan) => plan.options.click !== undefined,
  run: async (work) => {
    const { click: selector = '', errorOnClickSelectorNotFound } = work.plan.options
    if (!(await findTarget(work, selector, errorOnClickSelectorNotFound))) return
    const point = await callInPage(work, 'showMiddle', selector)
    if (point) await openTabsHere(work, 'click', () => pressAt(work, point))
  },
}

/** Clicks every visible match once in document order, including those that appear after a click. */
export const clickAll: Step = {
  name: 'clickAll',
  isWanted: (plan) => plan.options.clickAll !== undefined,
  run: async (work) => {
    const selector = work.plan.options.clickAll ?? ''
    if (!(await isThere(work, selector))) work.findings.warnings.push(`click_all matched no visible element: ${selector}`)
    for (let clicks = 0; clicks < MAX_CLICKS; clicks++) {
      const point = await callInPage(work, 'showNextMiddle', selector, clicks === 0)
      if (!point) return
      await openTabsHere(work, 'click_all', () => pressAt(work, point))
    }
    work.findings.warnings.push(`click_all stopped after ${MAX_CLICKS} elements`)
  },
}

/** Moves the pointer over the first visible match. */
export const hover: Step = {
  name: 'hover',
  isWanted: (plan) => plan.options.hover !== undefined,
  run: async (work) => {
    const { hover: selector = '', errorOnHoverSelectorNotFound } = work.plan.options
    if (!(await findTarget(work, selector, errorOnHoverSelectorNotFound))) return
    const point = await callInPage(work, 'showMiddle', selector)
    if (point) await movePointer(work, point)
  },
}

/** Presses one key, or a combination such as `Control+A`. */
export const pressKey: Step = {
  name: 'pressKey',
  isWanted: (plan) => plan.options.pressKey !== undefined,
  run: async (work) => {
    const { pressKey: combination = '' } = work.plan.options
    const keys = findKeys(combination)
    if (!keys) throw new CaptureError('INVALID_OPTIONS', `press_key is not a known key: ${combination}`)
    // The browser focuses an element with `autofocus` in a frame.
    await nextFrame(work, FOCUS_MILLISECONDS)
    await openTabsHere(work, 'press_key', () => awaitResponse(pressKeys(work.tab.session, keys), work.signal))
  },
}

/** Waits for an element. Returns false for a missing optional element. @throws CaptureError SELECTOR_NOT_FOUND */
async function findTarget(work: Work, selector: string, isNeeded: boolean): Promise<boolean> {
  // There is no wait for an optional element.
  if (!isNeeded && !(await isThere(work, selector))) {
    work.findings.warnings.push(`no visible element matched: ${selector}`)
    return false
  }
  await findElement(work, selector)
  return true
}

/** Moves the pointer to a point of the window. */
export const movePointer = ({ tab, signal }: Work, point: Point): Promise<unknown> =>
  awaitResponse(tab.session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', ...point }), signal)

async function pressAt({ tab, signal }: Work, { x, y }: Point): Promise<void> {
  const press = { x, y, button: 'left', clickCount: 1 } as const
  await awaitResponse(
    Promise.all([
      tab.session.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y }),
      tab.session.send('Input.dispatchMouseEvent', { type: 'mousePressed', buttons: 1, ...press }),
      tab.session.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...press }),
    ]),
    signal,
  )
}
