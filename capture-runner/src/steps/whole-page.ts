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

/** Lets page functions search the closed shadow roots that exist now. Costs a command, and more only if the page may have some. */
export async function includeClosedRoots({ tab, signal }: OpenPage): Promise<void> {
  if (await callInPage({ tab, signal }, 'mayHaveClosedRoots')) await openPart(tab.session, tab.mainFrame, signal)
}

/** Finds the closed roots and the frames of a page. */
export async function openWholePage({ tab, signal }: OpenPage): Promise<WholePage> {
  const main = await openPart(tab.session, tab.mainFrame, signal)
  const sessions = await tab.foreignFrames()
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
  const { root } = await awaitResponse(session.send('DOM.getDocument', { depth: -1, pierce: true }), signal)
  const found = { closedRoots: [] as number[], remoteFrames: 0 }
  collect(root, found)
  const resolved = found.closedRoots.map((backendNodeId) =>
    session.send('DOM.resolveNode', { backendNodeId, executionContextId: contextId }).then(
      ({ object }) => object.objectId,
      () => undefined,
    ),
  )
  const roots = (await awaitResponse(Promise.all(resolved), signal)).filter((id) => id !== undefined)
  const part = { session, contextId, remoteFrames: found.remoteFrames, lostRoots: found.closedRoots.length - roots.length }
  const passed = roots.map((objectId) => ({ objectId }))
  if (roots.length > 0) await callIn<void>(part, 'rememberClosedRoots', passed, signal)
  return part
}

/** The part of a node of DevTools that is used here. */
interface TreeNode {
  nodeName: string
  backendNodeId: number
  shadowRootType?: string
  children?: TreeNode[]
  shadowRoots?: TreeNode[]
  contentDocument?: TreeNode
}

const FRAMES = new Set(['IFRAME', 'FRAME', 'FENCEDFRAME'])

function collect(node: TreeNode, found: { closedRoots: number[]; remoteFrames: number }): void {
  if (node.shadowRootType === 'closed') found.closedRoots.push(node.backendNodeId)
  if (FRAMES.has(node.nodeName.toUpperCase()) && !node.contentDocument) found.remoteFrames++
  for (const inner of [...(node.children ?? []), ...(node.shadowRoots ?? []), ...(node.contentDocument ? [node.contentDocument] : [])]) {
    collect(inner, found)
  }
}

type CallArgument = { value: unknown } | { objectId: string }

async function callIn<T>(
  { session, contextId }: Pick<Part, 'session' | 'contextId'>,
  name: MaskFunction | 'rememberClosedRoots',
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
async function callInForeign(part: Part, name: MaskFunction, value: unknown, signal: AbortSignal): Promise<number[]> {
  using time = bounded(signal, FRAME_MILLISECONDS, () => new Error('the frame did not respond'))
  try {
    return await callIn<number[]>(part, name, [{ value }], time.signal)
  } catch {
    signal.throwIfAborted()
    return []
  }
}
