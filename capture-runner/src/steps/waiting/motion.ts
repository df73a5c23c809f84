import { awaitResponse } from '../../runtime/race.ts'
import { inDocument } from '../in-document.ts'
import type { Work } from '../step.ts'

/** Activity in a page. */
export interface Motion {
  /** The page's scripts have run since the last sample: timers, frame callbacks, observers, responses. */
  hasScript: boolean
  /** The DOM has changed since the last sample. */
  hasChanges: boolean
  /** The page shows more: elements or text were added, or an element changed for the first time. */
  hasGrown: boolean
  /** Animations and transitions, of SVG too, that end within the remaining time. */
  animations: number
  canvases: number
}

/** No activity. */
export const STILL: Motion = { hasScript: false, hasChanges: false, hasGrown: false, animations: 0, canvases: 0 }

/** Whether the page may soon look different. Scripts that change no element count only if there is a canvas, whose content cannot be observed. */
export const isMoving = ({ hasScript, hasChanges, animations, canvases }: Motion): boolean =>
  animations > 0 || hasChanges || (hasScript && canvases > 0)

/** Samples the activity in one page. */
export class MotionWatch {
  readonly #work: Work
  #scriptSeconds = 0
  #metrics: Metrics | undefined
  #hasCanvas = false
  #isObserving = false
  #namesCalls = false
  #last: Motion | undefined

  constructor(work: Work) {
    this.#work = work
  }

  /** Processor seconds of the page's process, decoders and compilers included. */
  get processSeconds(): number {
    return this.#metrics?.processSeconds ?? 0
  }

  /** True if the document has ever had a canvas. */
  get hasCanvas(): boolean {
    return this.#hasCanvas
  }

  /**
   * True if scripts of the page may have started work that is no timer, request or DOM change, such as idle callbacks, databases, decoders and
   * compilers. DevTools does not report such work. It is visible in what it leaves, and then the scripts' texts name the calls.
   */
  async mayWorkUnseen(): Promise<boolean> {
    if (this.#namesCalls) return true
    const { observers = 0, buffers = 0 } = this.#metrics ?? {}
    return (observers > USUAL_OBSERVERS || buffers > 0 || this.#hasCanvas) && namesCalls(this.#work)
  }

  /** True if the page has ever run a script. */
  get hasScripts(): boolean {
    return this.#scriptSeconds > 0
  }

  /**
   * Advances finite animations and samples the page's activity.
   * @param milliseconds how far to advance animations
   * @param left remaining page time: only animations that end within it count
   */
  async sample(milliseconds: number, left: number): Promise<Motion> {
    const { tab, signal } = this.#work
    this.#metrics = await readMetrics(this.#work)
    if (this.#metrics && this.#isObserving) this.#metrics.observers -= 1
    const seconds = this.#metrics?.scriptSeconds
    const hasScript = seconds === undefined || seconds !== this.#scriptSeconds
    this.#scriptSeconds = seconds ?? this.#scriptSeconds
    // Without scripts and without animations in the last sample, nothing can have started to move.
    if (this.#last && !hasScript && this.#last.animations === 0) return this.#note(STILL)
    const otherwise = { ...STILL, hasChanges: true, hasGrown: true, namesCalls: false }
    const { namesCalls, ...seen } = await inDocument(this.#work, otherwise, () =>
      tab.evaluate<typeof otherwise>(`(${forward})(${milliseconds}, ${left})`, signal),
    )
    this.#namesCalls ||= namesCalls
    this.#isObserving = true
    this.#hasCanvas ||= seen.canvases > 0
    return this.#note({ ...seen, hasScript })
  }

  #note(motion: Motion): Motion {
    this.#last = motion
    return motion
  }
}

/** Advances finite animations, for a page whose virtual clock was advanced. Animations themselves run on real time. */
export const bringForward = (work: Work, milliseconds: number): Promise<void> =>
  inDocument(work, undefined, () => work.tab.evaluate<void>(`(${forward})(${milliseconds}, 0)`, work.signal))

/** Seconds of script execution in the page's own process since the tab was opened, as the browser counts. Undefined during a navigation. */
export const scriptSeconds = async (work: Work): Promise<number | undefined> => (await readMetrics(work))?.scriptSeconds

/** What the browser counts in the page's process. */
interface Metrics {
  scriptSeconds: number
  processSeconds: number
  /** Objects that observe the life of a document, such as idle callbacks, databases and sockets. */
  observers: number
  /** Buffers of binary data. */
  buffers: number
}

/** Observers of a page without such objects, and without the mutation observer of this file. */
const USUAL_OBSERVERS = 4

/** Undefined during a navigation. */
const readMetrics = (work: Work): Promise<Metrics | undefined> =>
  inDocument(work, undefined, async () => {
    const { metrics } = await awaitResponse(work.tab.session.send('Performance.getMetrics'), work.signal)
    const valueOf = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0
    return {
      scriptSeconds: valueOf('ScriptDuration'),
      processSeconds: valueOf('ProcessTime'),
      observers: valueOf('ContextLifecycleStateObservers'),
      buffers: valueOf('ArrayBufferContents'),
    }
  })

/** Calls whose work is neither a timer nor a request nor a DOM change. */
const CALLS = 'requestIdleCallback|createImageBitmap|indexedDB|WebAssembly|toBlob|convertToBlob|FileReader|arrayBuffer\\(|caches\\.open'

/** Whether a loaded script of the main frame names such a call. */
const namesCalls = (work: Work): Promise<boolean> =>
  inDocument(work, true, async () => {
    const { session, mainFrame: frameId } = work.tab
    const { frameTree } = await awaitResponse(session.send('Page.getResourceTree'), work.signal)
    for (const { type, url } of frameTree.resources) {
      if (type !== 'Script') continue
      const query = { frameId, url, query: CALLS, isRegex: true, caseSensitive: true }
      // The browser no longer has the text of a script that it dropped from its memory.
      const found = await awaitResponse(
        session.send('Page.searchInResource', query).catch(() => undefined),
        work.signal,
      )
      if (found === undefined || found.result.length > 0) return true
    }
    return false
  })

/**
 * Runs in the page. Skips infinite and scroll-driven animations. The first call in a document reports no changes, because it only starts to
 * observe them.
 */
const forward = `(milliseconds, left) => {
  const watch = globalThis.tintypeMotion ??= { roots: new WeakSet(), seen: new WeakSet(), lengths: new WeakMap(), changes: 0, hasGrown: false }
  const isLonger = (node, length) => {
    if (length <= (watch.lengths.get(node) ?? 0)) return false
    watch.lengths.set(node, length)
    return true
  }
  const isNew = (node) => !watch.seen.has(node) && Boolean(watch.seen.add(node))
  const countElements = (nodes) => nodes.values().filter(({ nodeType }) => nodeType === 1).toArray().length
  const countLetters = (nodes) => nodes.values().reduce((sum, node) => sum + (node.nodeType === 3 ? node.data.length : 0), 0)
  const hasGrown = ({ type, target, addedNodes, removedNodes }) => {
    if (type === 'attributes') return isNew(target)
    if (type === 'characterData') return isLonger(target, target.data.length)
    return countElements(addedNodes) > countElements(removedNodes) || isLonger(target, countLetters(addedNodes))
  }
  const note = (records) => {
    watch.changes += records.length
    for (const record of records) if (hasGrown(record)) watch.hasGrown = true
  }
  let namesCalls = false
  if (!watch.observer) {
    namesCalls = [...document.scripts].some(({ src, text }) => !src && /${CALLS}/.test(text))
  }
  watch.observer ??= new MutationObserver(note)
  let animations = 0
  let canvases = 0
  const drawings = new Map()
  const noteDrawing = (element) => {
    let svg = element.ownerSVGElement
    while (svg?.ownerSVGElement) svg = svg.ownerSVGElement
    if (svg) drawings.set(svg, [...(drawings.get(svg) ?? []), element])
  }
  /** Seconds until the animation of SVG ends; 0 if it never ends or has not begun. */
  const secondsLeft = (element, now) => {
    try {
      const [times, all] = [element.getAttribute('repeatCount'), element.getAttribute('repeatDur')]
      if (times === 'indefinite' || all !== null) return 0
      return Math.max(0, element.getStartTime() + element.getSimpleDuration() * Number(times ?? 1) - now)
    } catch {
      return 0
    }
  }
  const go = (root) => {
    if (!watch.roots.has(root)) {
      watch.roots.add(root)
      watch.observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true })
    }
    for (const animation of root.getAnimations()) {
      if (animation.playState !== 'running' || !animation.timeline || 'source' in animation.timeline) continue
      const end = animation.effect?.getComputedTiming().endTime
      if (typeof end !== 'number' || end === Infinity || animation.playbackRate <= 0) continue
      if (isNew(animation.effect.target ?? animation)) watch.hasGrown = true
      const next = Number(animation.currentTime ?? 0) + milliseconds * animation.playbackRate
      if (milliseconds > 0 && next >= end) animation.finish()
      else {
        if (milliseconds > 0) animation.currentTime = next
        if ((end - next) / animation.playbackRate <= left) animations++
      }
    }
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) go(element.shadowRoot)
      else if (element.localName === 'canvas') canvases++
      else if (element instanceof SVGAnimationElement) noteDrawing(element)
      else if (element.localName === 'iframe') {
        try { if (element.contentDocument) go(element.contentDocument) } catch {}
      }
    }
  }
  go(document)
  for (const [svg, elements] of drawings) {
    if (svg.animationsPaused()) continue
    if (milliseconds > 0) svg.setCurrentTime(svg.getCurrentTime() + milliseconds / 1000)
    const now = svg.getCurrentTime()
    animations += elements.map((element) => secondsLeft(element, now) * 1000).filter((time) => time > 0 && time <= left).length
  }
  note(watch.observer.takeRecords())
  const found = { hasChanges: watch.changes > 0, hasGrown: watch.hasGrown, animations, canvases, namesCalls }
  watch.changes = 0
  watch.hasGrown = false
  return found
}`
