import { callInPage } from '../../page/call.ts'
import { awaitResponse, pause } from '../../runtime/race.ts'
import { follow } from '../navigation/navigate.ts'
import { inDocument, type Step, type Work } from '../step.ts'

const INTERVALS = [10, 20, 50, 100]

/**
 * How long to wait for requests that the first check found pending. The browser requests background images at the first layout, perhaps after the
 * load event, and no script can detect them. The limit is short because a tracking pixel that never responds looks the same.
 */
const BACKGROUND_MILLISECONDS = 1_000
/** Number of images that are looked for in the page. */
const MAX_IMAGES = 200
/** Length of a URL in a warning. */
const URL_LENGTH = 200

/** What is still loading. */
interface Loading {
  /** Number of fonts, and of images of the document. */
  count: number
  /** With wait_for_images: URLs of all other images in the picture. */
  images: readonly string[]
}

/** Waits until fonts and visible images are loaded and no navigation is pending. */
export const settle: Step = {
  name: 'settle',
  onFailure: 'warn',
  run: async (work) => {
    const { lifecycle } = work.tab
    const started = performance.now()
    if (work.plan.imagesMilliseconds !== undefined) work.imagesUntil ??= started + work.plan.imagesMilliseconds
    let first: { document: string | undefined; requests: ReadonlySet<string> } | undefined
    let hadImages = false
    for (let i = 0; ; i++) {
      await follow(work)
      const loading = await findLoading(work)
      if (!first || first.document !== lifecycle.document) first = { document: lifecycle.document, requests: lifecycle.painting }
      const taken = performance.now() - started
      const isPainted = taken > BACKGROUND_MILLISECONDS || first.requests.isDisjointFrom(lifecycle.painting)
      const isLoaded = loading?.count === 0 && loading.images.length === 0
      // The page may add an image when another one is loaded, so one more check follows.
      if (isLoaded && isPainted && !lifecycle.isMoving && (!hadImages || isTimeOver(work, taken))) return
      if (isTimeOver(work, taken)) {
        if (work.plan.options.waitForFontsTimeout > 0) work.findings.warnings.push(toWarning(loading))
        return
      }
      hadImages = loading !== undefined && loading.images.length > 0
      await pause(INTERVALS[Math.min(i, INTERVALS.length - 1)] ?? 0, work.signal)
    }
  },
}

const isTimeOver = ({ plan, imagesUntil = 0 }: Work, taken: number): boolean =>
  taken >= plan.options.waitForFontsTimeout && performance.now() >= imagesUntil

function toWarning(loading: Loading | undefined): string {
  const [image] = loading?.images ?? []
  const example = image === undefined ? '' : `: ${loading?.images.length} in the picture, such as ${image.slice(0, URL_LENGTH)}`
  return `fonts or images were still loading when the picture was taken${example}`
}

/** What is still loading; undefined if the document changed meanwhile. */
function findLoading({ tab, plan, signal }: Work): Promise<Loading | undefined> {
  const { document } = tab.lifecycle
  return inDocument({ tab, signal }, undefined, async () => {
    const count = await callInPage({ tab, signal }, 'countLoading', plan.picture.reach)
    // Events of requests that the layout started may arrive after its response, but before the next response.
    await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)
    const pending = plan.imagesMilliseconds === undefined ? [] : tab.lifecycle.pendingImages.slice(0, MAX_IMAGES)
    const images = pending.length === 0 ? [] : await callInPage({ tab, signal }, 'findShownImages', pending, plan.picture.reach)
    return tab.lifecycle.document === document ? { count, images } : undefined
  })
}
