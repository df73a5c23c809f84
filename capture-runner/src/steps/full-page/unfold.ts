import type { DevTools } from '../../browser/devtools.ts'
import { callInPage, toCall } from '../../page/call.ts'
import type { FoldedPart, LargeReason, WindowExtent } from '../../page/functions.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'
import { findClosedRoots, includeClosedRoots } from '../whole-page.ts'
import { measure } from './frame.ts'

/** Before a screenshot beyond the window: undoes a lock, expands a part that scrolls to its full height, and pins elements that are as tall as the window. */
export const unfold: Step = {
  name: 'unfold',
  onFailure: 'warn',
  isWanted: ({ picture }) =>
    picture.scrollContainer !== undefined ||
    picture.unlocks ||
    picture.pinWindowHeights ||
    (picture.eagerImages && !picture.sweep && picture.scroll === undefined),
  run: async (work) => {
    await unfoldParts(work, false)
  },
}

/**
 * Returns true if the unfolded part has grown since the last call.
 * @param isAgain for content that has arrived since; the window may be taller now, so its height says nothing
 */
export async function unfoldParts(work: Work, isAgain: boolean): Promise<boolean> {
  const { scrollContainer: container, unlocks, pinWindowHeights: pins, eagerImages: eager, format } = work.plan.picture
  if (typeof container === 'object') await includeClosedRoots(work)
  const parts = { container, unlocks, pins: pins && !isAgain, eager, keepsWidth: format !== 'pdf' }
  let found = await callInPage(work, 'unfold', parts)
  if (found === 'closed') {
    await findClosedRoots(work)
    found = await callInPage(work, 'unfold', { ...parts, pins: false, eager: false })
  }
  work.hasUnfolded = found === 'found' || found === 'grown'
  return found === 'grown'
}

const NAME_IT = 'Name the part in full_page_scroll_container to capture all of it.'
/** Why a large part was not unfolded, and what to do. */
const REASONS: Readonly<Record<LargeReason, string>> = {
  rows: 'draws only the rows in view. Use a taller viewport.',
  editor: 'is an editor. Use a taller viewport.',
  dialog: `is in a dialog. ${NAME_IT}`,
  panes: `is one of several panes. ${NAME_IT}`,
  frame: 'is a frame of another origin. Capture the URL of the frame instead.',
  clipped: `hides text that scripts may show on wheel events. ${NAME_IT}`,
  other: `scrolls. ${NAME_IT}`,
}
/** Parts with a scroll bar of their own that a warning names. */
const MAX_PANELS = 3

/** Adds warnings for what a full page hides. Undoes a lock of the page that came late. */
export const noteFolded: Step = {
  name: 'noteFolded',
  isWanted: ({ picture, video }) => picture.scrollContainer !== undefined && video === undefined,
  run: async (work) => {
    const { plan, findings } = work
    let folded = await callInPage(work, 'findFolded')
    if (folded.some(({ reason, cover }) => reason === 'locked' && cover === undefined)) {
      await unfoldParts(work, true)
      await measure.run(work)
      folded = await callInPage(work, 'findFolded')
    }
    const { scrollContainer } = plan.picture
    // A client that has named a part knows of the others.
    const isNamed = typeof scrollContainer === 'object'
    const relevant: FoldedPart[] = []
    for (const part of folded) {
      if (isNamed ? !isOfPage(part) : !(await isRelevant(work, part))) continue
      const isMoved = part.reason === 'hiding' && (await listensToWheel(work))
      relevant.push(isMoved ? { ...part, reason: 'clipped' } : part)
    }
    const warnings = describe(relevant)
    findings.warnings.push(...warnings)
    if (warnings.length === 0 && scrollContainer !== 'filling' && !work.hasUnfolded)
      findings.warnings.push('full_page_scroll_container matched no scrollable element')
  },
}

const isOfPage = ({ reason }: FoldedPart): boolean => /locked|hiding|blur/.test(reason)

function describe(folded: readonly FoldedPart[]): string[] {
  const isPanel = ({ reason }: FoldedPart) => reason === 'panel' || reason === 'panel-rows'
  const [panel, ...others] = folded.filter(isPanel)
  return [...folded.filter((part) => !isPanel(part)).map(sentenceOf), ...(panel ? [panelSentence(panel, others)] : [])]
}

function sentenceOf({ part, reason, height, whole, cover }: FoldedPart): string {
  const shown = `${height} of ${whole} pixels`
  if (reason === 'blurred') return `${part} is blurred. Show it with styles, such as "filter: none !important"`
  if (reason === 'blurring') return `${part} blurs the page below it. ${hidingAdvice(part)}`
  if (reason === 'locked' && cover !== undefined)
    return `the page is locked, and the picture shows ${shown} of its height: ${cover} is open. Hide it with hide_selectors, or close it with click`
  // It has been unlocked in vain: a script locks it again.
  if (reason === 'locked') return `the picture shows ${shown} of the height of ${part}, which stays locked. ${unlockingStyles(part)}`
  if (reason === 'hiding') return `the picture shows ${shown} of the height of ${part}, which hides the rest. ${NAME_IT}`
  return `the picture shows one window: ${part} ${REASONS[reason as LargeReason]}`
}

/** Selectors of elements match no pseudo-element. */
const hidingAdvice = (part: string): string =>
  part.includes('::') ? `Use styles, such as "${part} { display: none !important }"` : 'Hide it with hide_selectors'

const unlockingStyles = (part: string): string =>
  `Use styles, such as "${part} { ${['position: static', 'overflow: visible', 'height: auto', 'transform: none'].map((one) => `${one} !important`).join('; ')} }"`

function panelSentence({ part, reason, height, whole }: FoldedPart, others: readonly FoldedPart[]): string {
  const advice =
    reason === 'panel'
      ? 'Name it in full_page_scroll_container to capture all of it'
      : 'It draws only the rows in view. Make it taller with styles'
  const names = [...new Set(others.map((other) => other.part))].slice(0, MAX_PANELS - 1)
  const more =
    others.length === 0
      ? ''
      : ` There ${others.length === 1 ? 'is another such part' : `are ${others.length} more such parts`}: ${names.join(', ')}`
  return `the picture shows ${height} of ${whole} pixels of the height of ${part}, which scrolls. ${advice}${more && `.${more}`}`
}

async function isRelevant(work: Work, folded: FoldedPart): Promise<boolean> {
  if (folded.reason === 'frame') return hasMore(work, folded)
  return folded.reason !== 'clipped' || listensToWheel(work)
}

/** Whether a script handles wheel events in the document. */
async function listensToWheel({ tab, signal }: Work): Promise<boolean> {
  for (const expression of ['window', 'document']) {
    const { result } = await awaitResponse(tab.session.send('Runtime.evaluate', { expression }), signal)
    const query = { objectId: result.objectId ?? '', depth: -1, pierce: true }
    const { listeners } = await awaitResponse(tab.session.send('DOMDebugger.getEventListeners', query), signal)
    if (listeners.some(({ type }) => WHEEL_EVENTS.has(type))) return true
  }
  return false
}

const WHEEL_EVENTS = new Set(['wheel', 'mousewheel', 'DOMMouseScroll'])

/** Tolerated difference between a frame's size and its window, in CSS pixels. */
const SIZE_TOLERANCE = 20
const WORLD = 'tintype'

/** Whether the frame of another origin, which is found by its size, has content below its window. */
async function hasMore(work: Work, { width, height }: FoldedPart): Promise<boolean> {
  const isSame = (one: number, other: number) => Math.abs(one - other) < SIZE_TOLERANCE
  for (const session of [work.tab.session, ...work.tab.foreignFrames()]) {
    for (const extent of await extentsIn(session, work).catch(() => [])) {
      const isFrame = isSame(extent.width, width) && isSame(extent.height, height)
      if (isFrame && extent.scrollHeight > extent.height + 1) return true
    }
  }
  return false
}

/** Extents of the documents in a session's frames. */
async function extentsIn(session: DevTools, { tab, signal }: Work): Promise<WindowExtent[]> {
  const { frameTree } = await awaitResponse(session.send('Page.getFrameTree'), signal)
  const ids = idsIn(frameTree).filter((id) => id !== tab.mainFrame)
  const extents: WindowExtent[] = []
  for (const frameId of ids) {
    const { executionContextId: contextId } = await awaitResponse(
      session.send('Page.createIsolatedWorld', { frameId, worldName: WORLD }),
      signal,
    )
    const evaluation = { expression: toCall('readExtent'), contextId, returnByValue: true }
    const { result } = await awaitResponse(session.send('Runtime.evaluate', evaluation), signal)
    extents.push(result.value as WindowExtent)
  }
  return extents
}

interface FrameTree {
  frame: { id: string }
  childFrames?: FrameTree[]
}

const idsIn = ({ frame, childFrames = [] }: FrameTree): string[] => [frame.id, ...childFrames.flatMap(idsIn)]
