import type { DevTools } from '../../browser/devtools.ts'
import { callInPage, toCall } from '../../page/call.ts'
import type { FoldedPart, FoldReason, WindowExtent } from '../../page/functions.ts'
import { awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

const NAME_IT = 'Name the part in full_page_scroll_container to capture all of it.'
/** Why the part was not unfolded, and what to do. */
const REASONS: Readonly<Record<FoldReason, string>> = {
  rows: 'draws only the rows in view. Use a taller viewport.',
  editor: 'is an editor. Use a taller viewport.',
  dialog: `is in a dialog. ${NAME_IT}`,
  panes: `is one of several panes. ${NAME_IT}`,
  frame: 'is a frame of another origin. Capture the URL of the frame instead.',
  small: `is too small to be unfolded unasked. ${NAME_IT}`,
  clipped: `hides text that scripts may show on wheel events. ${NAME_IT}`,
  other: `scrolls. ${NAME_IT}`,
}

/** Adds a warning for a full page that does not scroll itself and shows only one window of a part that does. */
export const noteFolded: Step = {
  name: 'noteFolded',
  isWanted: ({ picture, video }) => picture.scrollContainer !== undefined && video === undefined,
  run: async (work) => {
    const { plan, findings, hasUnfolded } = work
    const { scrollContainer } = plan.picture
    const folded = typeof scrollContainer === 'object' ? null : await callInPage(work, 'findFolded')
    if (folded && (await isRelevant(work, folded))) {
      findings.warnings.push(`the picture shows one window: ${folded.part} ${REASONS[folded.reason]}`)
    } else if (scrollContainer !== 'filling' && !hasUnfolded) {
      findings.warnings.push('full_page_scroll_container matched no scrollable element')
    }
  },
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
  for (const session of [work.tab.session, ...(await work.tab.foreignFrames())]) {
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
