import type { DevTools } from '../browser/devtools.ts'
import { createWorld } from '../browser/tab.ts'
import { callInPage, sourceOf } from '../page/call.ts'
import type { PageFunctions } from '../page/functions.ts'
import { awaitResponse, bounded } from '../runtime/race.ts'
import type { Work } from './step.ts'

// Page functions search shadow roots and the frames of the page's process. Closed roots are out of reach for scripts, so DevTools finds them and passes
// them to the page's world. Masks also search frames of other processes.

/** Time limit for one frame of another process, which may hang. */
const FRAME_MILLISECONDS = 5_000

/** Functions that act on the matches of masks. */
type MaskFunction = 'coverMatches' | 'leaveOutMatches' | 'redactMatches'
/** Functions that act on fields for passwords. */
type PasswordFunction = 'takePasswords' | 'returnPasswords'

/** A page with everything that can be searched. */
export interface WholePage {
  /** Calls a function in every process of the page. Returns the number of matches of each selector, summed up. */
  call: <Name extends MaskFunction>(name: Name, value: Parameters<PageFunctions[Name]>[0]) => Promise<number[]>
  /** Number of shadow roots and frames that cannot be searched. */
  readonly unsearched: number
}

/** One process of the page. */
interface Part {
  session: DevTools
  contextId: number
  /** Frames of other processes in it. */
  remoteFrames: number
  /** Closed roots that could not be passed to the page's world. */
  lostRoots: number
}

type OpenPage = Pick<Work, 'tab' | 'signal'>

/** Lets page functions search the closed shadow roots that exist now. Reads all nodes only if a search of DevTools finds more than scripts do. */
export async function includeClosedRoots(page: OpenPage): Promise<void> {
  const known = await callInPage(page, 'countSearchable')
  if ((await countAll(page)) !== known) await findClosedRoots(page)
}

/** Number of elements, texts and comments, also in closed roots: an empty text is found in each. */
async function countAll({ tab: { session }, signal }: OpenPage): Promise<number> {
  await awaitResponse(session.send('DOM.enable'), signal)
  const { searchId, resultCount } = await awaitResponse(session.send('DOM.performSearch', { query: '' }), signal)
  await awaitResponse(session.send('DOM.discardSearchResults', { searchId }), signal)
  return resultCount
}

/** The same for a page that has some. */
export const findClosedRoots = async ({ tab, signal }: OpenPage): Promise<void> => {
  await openPart(tab.session, tab.mainFrame, signal)
}

/** Finds the closed roots and the frames of a page. */
export async function openWholePage({ tab, signal }: OpenPage): Promise<WholePage> {
  const main = await openPart(tab.session, tab.mainFrame, signal)
  const sessions = tab.foreignFrames()
  const opened = await Promise.all(sessions.map((session) => openForeign(session, signal)))
  const foreign = opened.filter((part) => part !== undefined)
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
  const remoteFrames = sum([main, ...foreign].map((part) => part.remoteFrames))
  return {
    unsearched: Math.max(0, remoteFrames - foreign.length) + sum([main, ...foreign].map((part) => part.lostRoots)),
    call: async (name, value) => {
      const called = [callIn<number[]>(main, name, [{ value }], signal), ...foreign.map((part) => callInForeign(part, name, value, signal))]
      const counts = await Promise.all(called)
      return (counts[0] ?? []).map((_, index) => sum(counts.map((counted) => counted[index] ?? 0)))
    },
  }
}

/** Calls a function in every process of the page. */
export async function callInAllFrames(page: OpenPage, name: PasswordFunction): Promise<void> {
  const { tab, signal } = page
  await includeClosedRoots(page)
  await callInPage(page, name)
  const parts = await Promise.all(tab.foreignFrames().map((session) => openForeign(session, signal)))
  await Promise.all(parts.map((part) => part && callInForeign(part, name, null, signal)))
}

async function openForeign(session: DevTools, signal: AbortSignal): Promise<Part | undefined> {
  using time = bounded(signal, FRAME_MILLISECONDS, () => new Error('the frame did not respond'))
  try {
    const { frameTree } = await awaitResponse(session.send('Page.getFrameTree'), time.signal)
    return await openPart(session, frameTree.frame.id, time.signal)
  } catch {
    signal.throwIfAborted()
    return undefined
  }
}

async function openPart(session: DevTools, frameId: string, signal: AbortSignal): Promise<Part> {
  const { executionContextId: contextId } = await awaitResponse(createWorld(session, frameId), signal)
  const found = await readTree({ session, contextId }, signal)
  const roots = await resolve({ session, contextId }, found.closedRoots, signal)
  const part = { session, contextId, remoteFrames: found.remoteFrames, lostRoots: found.closedRoots.length - roots.length }
  if (roots.length > 0) await callIn<void>(part, 'rememberClosedRoots', roots, signal)
  return part
}

/**
 * Brings each `<marquee>` of the page's process to rest. No script can reach its animation, which is in a shadow root of the browser. Returns false if some
 * have no animation, perhaps because no frame was drawn yet.
 */
export async function pauseMarquees({ tab, signal }: OpenPage): Promise<boolean> {
  const { session, mainFrame } = tab
  const { executionContextId: contextId } = await awaitResponse(createWorld(session, mainFrame), signal)
  const { marqueeRoots } = await readTree({ session, contextId }, signal)
  return callIn<boolean>({ session, contextId }, 'restInMarquees', await resolve({ session, contextId }, marqueeRoots, signal), signal)
}

/** An isolated world of a part. */
type World = Pick<Part, 'session' | 'contextId'>

/** What scripts cannot find, as node ids of DevTools. */
interface HiddenTrees {
  closedRoots: number[]
  /** Roots that the browser gives to `<marquee>` elements. */
  marqueeRoots: number[]
  remoteFrames: number
}

/** Levels of nodes that are read at a time. Chromium cannot write responses of more than 300 levels, two for each level of nodes. */
const LEVELS = 100

/** Reads all nodes, without the events that `DOM.getDocument` causes for each of them from then on. */
async function readTree({ session, contextId }: World, signal: AbortSignal): Promise<HiddenTrees> {
  const { result } = await awaitResponse(session.send('Runtime.evaluate', { expression: 'document', contextId }), signal)
  const found: HiddenTrees = { closedRoots: [], marqueeRoots: [], remoteFrames: 0 }
  const places: ({ objectId: string } | { backendNodeId: number })[] = [{ objectId: result.objectId ?? '' }]
  for (const place of places) {
    const { node } = await awaitResponse(session.send('DOM.describeNode', { ...place, depth: LEVELS, pierce: true }), signal)
    const deeper: number[] = []
    collect(node, found, deeper)
    places.push(...deeper.map((backendNodeId) => ({ backendNodeId })))
  }
  return found
}

/** Makes nodes available to scripts of a world. Those of other worlds are left out. */
async function resolve({ session, contextId }: World, ids: readonly number[], signal: AbortSignal): Promise<{ objectId: string }[]> {
  const resolved = ids.map((backendNodeId) =>
    session.send('DOM.resolveNode', { backendNodeId, executionContextId: contextId }).then(
      ({ object }) => object.objectId,
      () => undefined,
    ),
  )
  const objects = await awaitResponse(Promise.all(resolved), signal)
  return objects.flatMap((objectId) => (objectId === undefined ? [] : [{ objectId }]))
}

/** The part of a node of DevTools that is used here. */
interface TreeNode {
  nodeName: string
  backendNodeId: number
  childNodeCount?: number
  shadowRootType?: string
  children?: TreeNode[]
  shadowRoots?: TreeNode[]
  contentDocument?: TreeNode
}

const FRAMES = new Set(['IFRAME', 'FRAME', 'FENCEDFRAME'])

/** Finds what is in a node. @param deeper gets the nodes whose contents were not read */
function collect({ children = [], shadowRoots = [], contentDocument }: TreeNode, found: HiddenTrees, deeper: number[]): void {
  for (const node of [...children, ...shadowRoots, ...(contentDocument ? [contentDocument] : [])]) {
    if (node.shadowRootType === 'closed') found.closedRoots.push(node.backendNodeId)
    if (node.nodeName.toUpperCase() === 'MARQUEE')
      found.marqueeRoots.push(...(node.shadowRoots ?? []).map(({ backendNodeId }) => backendNodeId))
    if (FRAMES.has(node.nodeName.toUpperCase()) && !node.contentDocument) found.remoteFrames++
    if (node.children === undefined && (node.childNodeCount ?? 0) > 0) deeper.push(node.backendNodeId)
    else collect(node, found, deeper)
  }
}

type CallArgument = { value: unknown } | { objectId: string }

async function callIn<T>(
  { session, contextId }: World,
  name: MaskFunction | PasswordFunction | 'rememberClosedRoots' | 'restInMarquees',
  values: readonly CallArgument[],
  signal: AbortSignal,
): Promise<T> {
  const called = session.send('Runtime.callFunctionOn', {
    functionDeclaration: sourceOf(name),
    arguments: [...values],
    executionContextId: contextId,
    returnByValue: true,
  })
  const { result, exceptionDetails } = await awaitResponse(called, signal)
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value as T
}

/** A frame that is removed meanwhile has nothing to hide. */
async function callInForeign(part: Part, name: MaskFunction | PasswordFunction, value: unknown, signal: AbortSignal): Promise<number[]> {
  using time = bounded(signal, FRAME_MILLISECONDS, () => new Error('the frame did not respond'))
  try {
    return await callIn<number[]>(part, name, [{ value }], time.signal)
  } catch {
    signal.throwIfAborted()
    return []
  }
}
