import { callInPage } from '../../page/call.ts'
import type { VisibleMotion } from '../../page/functions.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { inDocument, type Work } from '../step.ts'

/** Activity in a page. */
export interface Motion extends VisibleMotion {
  /** The page's scripts have run since the last sample: timers, frame callbacks, observers, responses. */
  hasScript: boolean
  /** They ran in the last frame, so they may count frames. */
  hasFrameScript?: boolean
}

/** No activity. */
export const STILL: Motion = {
  hasScript: false,
  hasChanges: false,
  hasGrown: false,
  animations: 0,
  endless: 0,
  canvases: 0,
  marquees: 0,
  hasDrawnImages: false,
}

/** Whether the page may soon look different. Scripts that change no element count only if there is a canvas, whose content cannot be observed. */
export const isMoving = ({ hasScript, hasChanges, animations, canvases }: Motion): boolean =>
  animations > 0 || hasChanges || (hasScript && canvases > 0)

/** What may make it look different. Only scripts change elements; the last sample may be later than they ran. */
export const namesOf = ({ hasScript, hasChanges, animations, canvases }: Motion): string[] => [
  ...(animations > 0 ? ['animations'] : []),
  ...(canvases > 0 ? ['a canvas'] : []),
  ...(hasScript || hasChanges ? ['scripts'] : []),
]

/** Samples the activity in one page. */
export class MotionWatch {
  readonly #work: Work
  #scriptSeconds = 0
  /** The same when the last frame began. */
  #frameSeconds: number | undefined
  #metrics: Metrics | undefined
  #hasCanvas = false
  #hasMarquee = false
  #isObserving = false
  /** Loaded scripts that name no such call. Their texts do not change. */
  readonly #searched = new Set<string>()
  #last: Motion | undefined

  constructor(work: Work) {
    this.#work = work
  }

  /** Processor seconds of the page's process, decoders and compilers included. */
  get processSeconds(): number {
    return this.#metrics?.processSeconds ?? 0
  }

  /** Processor seconds of the page's main thread. */
  get threadSeconds(): number {
    return this.#metrics?.threadSeconds ?? 0
  }

  /** True if the document has ever had a canvas. */
  get hasCanvas(): boolean {
    return this.#hasCanvas
  }

  /** True if the document has ever had a `<marquee>`. */
  get hasMarquee(): boolean {
    return this.#hasMarquee
  }

  /**
   * True if scripts of the page may have started work that is no timer, request or DOM change, such as idle callbacks, databases, decoders and
   * compilers. DevTools does not report such work. It is visible in what it leaves, and then the scripts' texts name the calls.
   */
  async mayWorkUnseen(): Promise<boolean> {
    const { observers = 0, buffers = 0 } = this.#metrics ?? {}
    const isWorthSearching = observers > USUAL_OBSERVERS || buffers > 0 || this.#hasCanvas
    return (await namesCallsInline(this.#work)) || (isWorthSearching && namesCalls(this.#work, this.#searched))
  }

  /** Notes that the next frame begins now. */
  async noteFrame(): Promise<void> {
    this.#frameSeconds = await scriptSeconds(this.#work)
  }

  /** True if the page has ever run a script. */
  get hasScripts(): boolean {
    return this.#scriptSeconds > 0
  }

  /**
   * Samples the page's activity.
   * @param left remaining page time: only animations that end within it count
   */
  async sample(left: number): Promise<Motion> {
    const { tab, signal } = this.#work
    this.#metrics = await readMetrics(this.#work)
    if (this.#metrics && this.#isObserving) this.#metrics.observers -= 1
    const seconds = this.#metrics?.scriptSeconds
    const hasScript = seconds === undefined || seconds !== this.#scriptSeconds
    const hasFrameScript = this.#frameSeconds !== undefined && seconds !== this.#frameSeconds
    this.#frameSeconds = undefined
    this.#scriptSeconds = seconds ?? this.#scriptSeconds
    // Without scripts and without animations in the last sample, nothing can have started to move.
    if (this.#last && !hasScript && this.#last.animations === 0) return this.#note(STILL)
    const seen = await inDocument(this.#work, { ...STILL, hasChanges: true, hasGrown: true }, () =>
      callInPage({ tab, signal }, 'advanceAnimations', 0, left),
    )
    this.#isObserving = true
    this.#work.hasEndless = this.#work.hasEndless || seen.endless > 0
    this.#hasCanvas ||= seen.canvases > 0
    this.#hasMarquee ||= seen.marquees > 0
    return this.#note({ ...seen, hasScript, hasFrameScript })
  }

  /** True if animations end within this time, however long they have been running. */
  async hasAnimations(left: number): Promise<boolean> {
    const seen = await inDocument(this.#work, STILL, () => callInPage(this.#work, 'advanceAnimations', 0, left))
    return seen.animations > 0
  }

  #note(motion: Motion): Motion {
    this.#last = motion
    return motion
  }
}

/** Advances finite animations, for a page whose virtual clock was advanced. Animations themselves run on real time. */
export async function bringForward(work: Work, milliseconds: number): Promise<void> {
  await inDocument(work, undefined, () => callInPage(work, 'advanceAnimations', milliseconds, 0))
}

/** Seconds of script execution in the page's own process since the tab was opened, as the browser counts. Undefined during a navigation. */
export const scriptSeconds = async (work: Work): Promise<number | undefined> => (await readMetrics(work))?.scriptSeconds

/** What the browser counts in the page's process. */
interface Metrics {
  scriptSeconds: number
  processSeconds: number
  threadSeconds: number
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
    const metricOf = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? 0
    return {
      scriptSeconds: metricOf('ScriptDuration'),
      processSeconds: metricOf('ProcessTime'),
      threadSeconds: metricOf('ThreadTime'),
      observers: metricOf('ContextLifecycleStateObservers'),
      buffers: metricOf('ArrayBufferContents'),
    }
  })

/** Calls whose work is neither a timer nor a request nor a DOM change. */
const CALLS = [
  'requestIdleCallback|createImageBitmap|indexedDB|WebAssembly|toBlob|convertToBlob|FileReader|arrayBuffer\\(|caches\\.open',
  'subtle\\.|decodeAudioData|startRendering|getDirectory\\(|Worklet|\\.decode\\(\\)',
].join('|')

const namesCallsInline = (work: Work): Promise<boolean> => inDocument(work, false, () => callInPage(work, 'hasInlineScript', CALLS))

/** Whether a loaded script of the page names such a call. @param searched frames and URLs of scripts that do not; it is added to */
const namesCalls = (work: Work, searched: Set<string>): Promise<boolean> =>
  inDocument(work, true, async () => {
    const { session } = work.tab
    const { frameTree } = await awaitResponse(session.send('Page.getResourceTree'), work.signal)
    for (const { frameId, url } of scriptsOf(frameTree)) {
      const name = `${frameId} ${url}`
      if (searched.has(name)) continue
      const query = { frameId, url, query: CALLS, isRegex: true, caseSensitive: true }
      // The browser no longer has the text of a script that it dropped from its memory.
      const found = await awaitResponse(
        session.send('Page.searchInResource', query).catch(() => undefined),
        work.signal,
      )
      if (found === undefined || found.result.length > 0) return true
      searched.add(name)
    }
    return false
  })

interface ResourceTree {
  frame: { id: string }
  resources: readonly { type: string; url: string }[]
  childFrames?: readonly ResourceTree[]
}

/** The scripts of a frame and the frames in it that belong to its process. */
const scriptsOf = ({ frame, resources, childFrames = [] }: ResourceTree): { frameId: string; url: string }[] => [
  ...resources.flatMap(({ type, url }) => (type === 'Script' ? [{ frameId: frame.id, url }] : [])),
  ...childFrames.flatMap(scriptsOf),
]
