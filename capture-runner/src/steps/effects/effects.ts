import { toSnakeCase } from '@tintype/crds/text/words'
import { createWorld } from '../../browser/tab.ts'
import { callInPage, toCall } from '../../page/call.ts'
import type { LostEffects } from '../../page/functions.ts'
import { type CapturePlan, hasActions } from '../../plan/plan.ts'
import { awaitResponse, pause } from '../../runtime/race.ts'
import { stopForGood } from '../full-page/reveal.ts'
import { scripts } from '../injection/scripts.ts'
import { click, clickAll, hover, movePointer, pressKey } from '../preparing/click.ts'
import { isPlaced } from '../preparing/place-window.ts'
import { inDocument, type NotedActions, type Step, type Work } from '../step.ts'
import { nextFrame, passTime } from '../waiting/page-time.ts'
import { stability } from '../waiting/stability.ts'

// What an action of the client changes must be in the picture (ADR 72). A page that is scrolled or laid out in another window afterwards may undo it: menus
// close, and the element under the pointer moves away. The runner notes what an action has changed, runs the action again if all of that is undone by a
// scroll or a layout, and names in a warning what stays undone.

/** An action has ended when nothing has changed for this long, or after the second time. */
const REST_MILLISECONDS = 100
const MAX_REST_MILLISECONDS = 1_000
/** Page time in which the page reacts to what was renewed. */
const LATE_MILLISECONDS = 300
/** Number of elements that a warning names. */
const NAMED_ELEMENTS = 3
const FRAME_MILLISECONDS = 200

/** Whether the page is scrolled or laid out again after the actions. */
function isDisturbed(plan: CapturePlan): boolean {
  const { fullPage, format, clip } = plan.picture
  const isPart = (plan.options.selector ?? clip) !== undefined
  return plan.video === undefined && (fullPage || format === 'pdf' || isPart || isPlaced(plan))
}

const isNoted = (plan: CapturePlan): boolean =>
  isDisturbed(plan) && !plan.context.scriptsOff && (hasActions(plan) || plan.options.hover !== undefined)

/** A step that also notes what it changes. */
export const withEffects = (step: Step): Step => ({
  ...step,
  run: async (work) => {
    if (!isNoted(work.plan)) return step.run(work)
    work.notedActions ??= noteSending(work)
    work.notedActions.current = step
    await inDocument(work, undefined, async () => {
      await showTarget(work, step)
      await callInPage(work, 'noteEffects')
    })
    await step.run(work)
    await inDocument(work, undefined, async () => {
      await rest(work)
      await callInPage(work, 'keepEffects', toSnakeCase(step.name))
    })
    work.notedActions.current = undefined
  },
})

function noteSending({ tab }: Work): NotedActions {
  const noted: NotedActions = { sending: new Set() }
  tab.session.on('Network.requestWillBeSent', ({ request }) => {
    if (noted.current && request.method !== 'GET') noted.sending.add(noted.current)
  })
  return noted
}

/** Scrolls to the element now, so that what the page changes for the scroll does not count. */
async function showTarget(work: Work, step: Step): Promise<void> {
  const { options } = work.plan
  const selector = step === click ? options.click : step === hover ? options.hover : undefined
  const point = selector !== undefined && (await callInPage(work, 'showMiddle', selector))
  if (!point) return
  // What a click shows is not what the pointer alone shows.
  if (step === click) await movePointer(work, point)
  await nextFrame(work, FRAME_MILLISECONDS)
}

async function rest(work: Work): Promise<void> {
  const until = performance.now() + MAX_REST_MILLISECONDS
  while (performance.now() < until) {
    const isBusy = work.tab.lifecycle.isBusy || (await callInPage(work, 'restOfAction')) < REST_MILLISECONDS
    if (!isBusy) return
    await pause(REST_MILLISECONDS / 4, work.signal)
  }
}

/** Runs actions again whose effects the page has undone, and moves the pointer to where its element is now. */
export const renewEffects: Step = {
  name: 'renewEffects',
  onFailure: 'warn',
  isWanted: (plan) => isNoted(plan) || (isDisturbed(plan) && plan.options.hover !== undefined),
  run: async (work) => {
    const hasLost = (await findLost(work)).length > 0
    // Actions need frames.
    work.clock?.keepRunning(work.signal)
    if (hasLost) await callInPage(work, 'restoreFocus')
    const lost = await findLost(work)
    const again = [scripts, click, clickAll, pressKey].filter(
      (step) => !work.notedActions?.sending.has(step) && lost.some(({ action, isWhole }) => isWhole && action === toSnakeCase(step.name)),
    )
    const place = again.length > 0 ? await readPlace(work) : undefined
    for (const step of again) {
      await showTarget(work, step)
      await step.run(work)
    }
    if (place && isPlaced(work.plan)) await callInPage(work, 'scrollToPosition', place.pageX, place.pageY)
    const isPointed = await point(
      work,
      lost.some(({ action }) => action === 'hover'),
    )
    if (!hasLost && !isPointed) return work.clock?.hold()
    await findLost(work)
    await rested(work)
    const renewed = [...again, ...(isPointed ? [hover] : [])].map(({ name }) => toSnakeCase(name))
    // What has ended by itself, such as a message, comes back when its action runs again, and may end again.
    const isNoted = ({ action, isCertain, hasReturned }: LostEffects) => (renewed.includes(action) ? !hasReturned : isCertain)
    noteLost(work, (await findLost(work)).filter(isNoted))
    await work.clock?.hold()
  },
}

const findLost = (work: Work): Promise<LostEffects[]> =>
  work.plan.context.scriptsOff ? Promise.resolve([]) : inDocument(work, [], () => callInPage(work, 'findLostEffects'))

/** Lets what was renewed come to rest. */
async function rested(work: Work): Promise<void> {
  await passTime(work, LATE_MILLISECONDS)
  await findLost(work)
  if (stability.isWanted?.(work.plan)) await stability.run(work)
}

function noteLost({ plan, findings }: Work, lost: readonly LostEffects[]): void {
  const advice = plan.picture.sweep ? 'Set full_page_sweep to false' : 'Make the change with styles instead'
  for (const { action, elements } of lost) {
    const names = elements.slice(0, NAMED_ELEMENTS).join(', ')
    findings.warnings.push(`the page undid what ${action} had changed, because it was scrolled or laid out again: ${names}. ${advice}`)
  }
}

/** The scroll position of the window, and the height of the page. */
async function readPlace({ tab, signal }: Work): Promise<{ pageX: number; pageY: number; contentHeight: number }> {
  const { cssVisualViewport, cssContentSize } = await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)
  return { pageX: cssVisualViewport.pageX, pageY: cssVisualViewport.pageY, contentHeight: cssContentSize.height }
}

/** Moves the pointer to the element of `hover` again. Returns false if there is nothing to do. */
async function point(work: Work, isLost: boolean): Promise<boolean> {
  const { tab, plan, findings, signal } = work
  const { hover: selector } = plan.options
  if (selector === undefined) return false
  const place = await callInPage(work, 'placeOfPointed', selector)
  if (place === 'absent') {
    if (!findings.warnings.some((warning) => warning.includes(selector)))
      findings.warnings.push(`hover was undone before the picture was taken: its element is not visible anymore: ${selector}`)
    return false
  }
  if (place === 'outside' && !plan.options.captureBeyondViewport) return false
  const needsTall = place === 'outside' && plan.picture.format !== 'pdf'
  const { pageX, pageY, contentHeight } = await readPlace(work)
  if (needsTall) await awaitResponse(tab.layOut(Math.ceil(contentHeight)), signal)
  if (place !== 'outside' || needsTall) {
    // A page that has closed what it showed for the pointer notices it only when it enters again.
    if (isLost) await movePointer(work, { x: 0, y: 0 })
    const middle = await callInPage(work, 'showMiddle', selector)
    if (middle) await movePointer(work, middle)
  }
  await forceHover(work, selector)
  if (!needsTall) return true
  await rested(work)
  if (!plan.context.scriptsOff) await stopForGood(work)
  await awaitResponse(tab.layOut(), signal)
  await callInPage(work, 'scrollToPosition', pageX, pageY)
  return true
}

/** The pointer stays in the window, and pictures of more than the window are not. So the element and all around it keep the state of `:hover`. */
async function forceHover(work: Work, selector: string): Promise<void> {
  const { session, mainFrame } = work.tab
  await awaitResponse(Promise.all([session.send('DOM.enable'), session.send('CSS.enable')]), work.signal)
  await awaitResponse(session.send('DOM.getDocument', { depth: 0 }), work.signal)
  const { executionContextId: contextId } = await awaitResponse(createWorld(session, mainFrame), work.signal)
  const { result } = await awaitResponse(
    session.send('Runtime.evaluate', { expression: toCall('findPointed', selector), contextId }),
    work.signal,
  )
  const list = { objectId: result.objectId ?? '', ownProperties: true }
  const { result: entries } = await awaitResponse(session.send('Runtime.getProperties', list), work.signal)
  const forced = entries.flatMap(({ value }) => (value?.subtype === 'node' && value.objectId ? [force(work, value.objectId)] : []))
  await awaitResponse(Promise.all(forced), work.signal)
}

async function force({ tab: { session } }: Work, objectId: string): Promise<void> {
  const { nodeId } = await session.send('DOM.requestNode', { objectId })
  await session.send('CSS.forcePseudoState', { nodeId, forcedPseudoClasses: ['hover'] })
}
