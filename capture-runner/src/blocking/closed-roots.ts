import type { DevTools } from '../browser/devtools.ts'
import type { Tab } from '../browser/tab.ts'
import { sourceOf } from '../page/call.ts'
import type { PageFunctions } from '../page/functions.ts'
import { awaitResponse } from '../runtime/race.ts'

// Accesses closed shadow roots. No script can reach them, not even in an isolated world, but DevTools can. A query for each element would take too long,
// so only custom elements and the topmost elements in the window are queried.

const WORLD = 'tintype-roots'
/** Maximum nesting depth of roots. */
const DEPTH = 4
/** Maximum number of elements per query. */
const MAX_HOSTS = 150

/** Calls a page function in an isolated world with a flag and the closed shadow roots that were found. */
export async function callWithClosedRoots<Name extends 'hideBanners' | 'clickBannerButton'>(
  { session, mainFrame }: Tab,
  name: Name,
  flag: boolean,
  signal: AbortSignal,
): Promise<ReturnType<PageFunctions[Name]>> {
  const { executionContextId } = await awaitResponse(
    session.send('Page.createIsolatedWorld', { frameId: mainFrame, worldName: WORLD }),
    signal,
  )
  const world = new World(session, executionContextId, signal)
  const roots: string[] = []
  for (let depth = 0; depth < DEPTH; depth++) {
    const found = await world.findRoots(roots)
    if (found.length === 0) break
    roots.push(...found)
  }
  const { result } = await world.call(sourceOf(name), [{ value: flag }, ...roots.map((objectId) => ({ objectId }))], true)
  return result.value as ReturnType<PageFunctions[Name]>
}

class World {
  readonly #session: DevTools
  readonly #contextId: number
  readonly #signal: AbortSignal

  constructor(session: DevTools, contextId: number, signal: AbortSignal) {
    this.#session = session
    this.#contextId = contextId
    this.#signal = signal
  }

  async call(functionDeclaration: string, args: { value?: unknown; objectId?: string }[], returnByValue: boolean) {
    const called = await awaitResponse(
      this.#session.send('Runtime.callFunctionOn', {
        functionDeclaration,
        arguments: args,
        executionContextId: this.#contextId,
        returnByValue,
      }),
      this.#signal,
    )
    if (called.exceptionDetails) throw new Error(called.exceptionDetails.exception?.description ?? called.exceptionDetails.text)
    return called
  }

  /** Closed roots that are not yet known, as objects of this world. */
  async findRoots(known: readonly string[]): Promise<string[]> {
    const { result } = await this.call(sourceOf('findHosts'), [{ value: MAX_HOSTS }, ...known.map((objectId) => ({ objectId }))], false)
    if (result.objectId === undefined) return []
    const { result: properties } = await awaitResponse(
      this.#session.send('Runtime.getProperties', { objectId: result.objectId, ownProperties: true }),
      this.#signal,
    )
    const hosts = properties.flatMap(({ name, value }) => (/^\d+$/.test(name) && value?.objectId ? [value.objectId] : []))
    const roots = await Promise.all(hosts.map((host) => this.#rootOf(host)))
    return roots.filter((root) => root !== undefined)
  }

  async #rootOf(objectId: string): Promise<string | undefined> {
    const { node } = await awaitResponse(this.#session.send('DOM.describeNode', { objectId, depth: 0 }), this.#signal)
    const root = node.shadowRoots?.find(({ shadowRootType }) => shadowRootType === 'closed')
    if (!root) return undefined
    const resolve = this.#session.send('DOM.resolveNode', { backendNodeId: root.backendNodeId, executionContextId: this.#contextId })
    const { object } = await awaitResponse(resolve, this.#signal)
    return object.objectId
  }
}
