import type { DevTools } from '../browser/devtools.ts'
import type { Tab } from '../browser/tab.ts'
import { awaitResponse } from '../runtime/race.ts'

// Accesses closed shadow roots. No script can reach them, not even in an isolated world, but DevTools can. A query for each element would take too long,
// so only custom elements and the topmost elements in the window are queried.

const WORLD = 'tintype-roots'
/** Maximum nesting depth of roots. */
const DEPTH = 4
/** Maximum number of elements per query. */
const MAX_HOSTS = 150

/**
 * Calls a function in an isolated world of the page and returns its result.
 * @param source JavaScript of a synchronous function of `flag` and of the closed shadow roots that were found
 */
export async function callWithClosedRoots<T>({ session, mainFrame }: Tab, source: string, flag: boolean, signal: AbortSignal): Promise<T> {
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
  const { result } = await world.call(source, [{ value: flag }, ...roots.map((objectId) => ({ objectId }))], true)
  return result.value as T
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
    const { result } = await this.call(
      HOSTS,
      known.map((objectId) => ({ objectId })),
      false,
    )
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

/** Elements that may have an unknown closed root. */
const HOSTS = `(...roots) => {
  const known = new Map(roots.map((root) => [root.host, root]))
  const rootOf = (element) => element.shadowRoot ?? known.get(element)
  const mayHost = (element) => /^(article|aside|blockquote|div|footer|h[1-6]|header|main|nav|p|section|span)$|-/.test(element.localName) && !rootOf(element)
  const hosts = new Set()
  const add = (element) => { if (hosts.size < ${MAX_HOSTS} && mayHost(element)) hosts.add(element) }
  const topAt = (x, y) => {
    let top = null
    for (let root = document; root; ) {
      const inner = root.elementFromPoint(x, y)
      if (!inner || inner === top) break
      top = inner
      root = rootOf(inner)
    }
    return top
  }
  const across = [0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98]
  const down = [5, 20, ...Array.from({ length: 20 }, (_, i) => ((i + 0.5) * innerHeight) / 20), innerHeight - 20, innerHeight - 5]
  for (const y of down) for (const x of across) {
    const top = topAt(x * innerWidth, y)
    if (top) add(top)
  }
  const trees = [document]
  for (const tree of trees) for (const element of tree.querySelectorAll('*')) {
    if (element.localName.includes('-')) add(element)
    const root = rootOf(element)
    if (root) trees.push(root)
  }
  return [...hosts]
}`
