import { callInPage } from '../../page/call.ts'
import type { ElementRegion } from '../../page/functions.ts'
import { cutPage, isInWindow, toRegion, windowAt, withinWindow } from '../../picture/tiles.ts'
import type { PageSize, Tile } from '../../plan/picture.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { awaitResponse } from '../../runtime/race.ts'
import { follow } from '../navigation/navigate.ts'
import { isScrolledTo, WHOLE_WINDOW } from '../preparing/place-window.ts'
import type { Step, Work } from '../step.ts'
import { includeClosedRoots } from '../whole-page.ts'

/** Height limit of the window, in CSS pixels. */
const MAX_WINDOW_HEIGHT = 16_384

/** Determines the region of the page to capture, and prepares the page for it. */
export const frame: Step = {
  name: 'frame',
  onFailure: 'repeat',
  isWanted: ({ picture, options }) =>
    (options.selector ?? picture.clip) !== undefined ||
    (picture.fullPage && (options.fullPageFixedElements !== 'keep' || !options.captureBeyondViewport)),
  run: async (work) => {
    const { plan, findings } = work
    const { clip, fullPage } = plan.picture
    const { selector, selectorIsolate, captureBeyondViewport } = plan.options
    if (fullPage && !captureBeyondViewport) await growWindow(work)
    if (fullPage) await placeFixed(work)
    const region = clip ?? (selector === undefined ? undefined : await regionOf(work, selector))
    if (!region || !findings.size) return
    findings.region = captureBeyondViewport ? checked(work, region, findings.size) : cutToWindow(work, region, findings.size)
    if (findings.region && !isInWindow(findings.region, plan.context.viewport, findings.size)) await placeFixed(work)
    if (findings.region && selector !== undefined && selectorIsolate) await callInPage(work, 'isolateElements', toQuery(work, selector))
  },
}

async function growWindow(work: Work): Promise<void> {
  const { tab, plan, findings } = work
  const { width, height } = plan.context.viewport
  const { contentHeight = height, scale = 1 } = findings.size ?? {}
  const wanted = Math.ceil(Math.min(contentHeight, plan.options.fullPageMaxHeight) * scale)
  if (wanted > MAX_WINDOW_HEIGHT) findings.warnings.push(`the window is limited to ${MAX_WINDOW_HEIGHT} pixels; the page needs ${wanted}`)
  await tab.resize({ width, height: Math.max(height, Math.min(wanted, MAX_WINDOW_HEIGHT)) })
  await measure.run(work)
}

/** Keeps fixed elements out of the middle of a picture that is taller than the window. Bars at the bottom of the window move to the end of the page. */
async function placeFixed(work: Work): Promise<void> {
  const { plan, findings } = work
  const { fullPage } = plan.picture
  const { fullPageFixedElements: fixedElements, selector } = plan.options
  const kept = selector === undefined ? undefined : toQuery(work, selector)
  if (fixedElements === 'hide') return callInPage(work, 'hideFixed', kept)
  if (fixedElements === 'keep' || !findings.size || plan.pages) return
  const window = windowAt(plan.context.viewport, findings.size)
  const last = fullPage ? cutPage(plan, findings.size).tiles.at(-1) : undefined
  const end = last ? last.y + last.height : Math.max(findings.size.contentHeight, window.y + window.height)
  const [up, down] = [window.y, end - window.y - window.height]
  if (up <= 0 && down <= 0) return
  await includeClosedRoots(work)
  await callInPage(work, 'moveBars', { up, down, kept })
}

const toQuery = ({ plan }: Work, selector: string) => ({ selector, all: plan.options.selectorAll })

/** The part of the elements that the page shows. Undefined: the window, with a warning. @throws CaptureError if nothing is shown and the client needs it */
async function regionOf(work: Work, selector: string): Promise<Tile | undefined> {
  const { plan, findings } = work
  const found = await findShown(work, selector)
  const painted = found.flatMap((region) => region.painted ?? [])
  if (painted.length === 0 || !findings.size) {
    noteHidden(work, selector)
    return undefined
  }
  if (found.some(({ painted, whole }) => isCut(painted, whole))) findings.warnings.push(cutWarning(found, painted))
  return toRegion(painted, plan.options.selectorPadding, findings.size)
}

/** Scrolls the boxes around the element again, because the page may have moved since the first time. */
async function findShown(work: Work, selector: string): Promise<ElementRegion[]> {
  const found = await callInPage(work, 'findRegions', toQuery(work, selector))
  if (!isScrolledTo(work.plan) || !found.some(({ painted, own }) => isCut(painted, own))) return found
  await callInPage(work, 'scrollToTop', selector, 0)
  await measure.run(work)
  return callInPage(work, 'findRegions', toQuery(work, selector))
}

/** Less than this is a rounding error. */
const CUT_PIXELS = 2

const isCut = (painted: Tile | null, whole: Tile | null): boolean =>
  whole !== null && (painted === null || whole.width - painted.width >= CUT_PIXELS || whole.height - painted.height >= CUT_PIXELS)

function cutWarning(found: readonly ElementRegion[], painted: readonly Tile[]): string {
  const [shown, whole] = [sizeOf(painted), sizeOf(found.flatMap((region) => region.whole ?? []))]
  return `the picture shows ${shown} of ${whole} pixels of selector: a box that scrolls or hides its content cuts it. Enlarge this box with styles`
}

/** Width and height of the area around all boxes. */
function sizeOf(boxes: readonly Tile[]): string {
  const width = Math.max(...boxes.map((box) => box.x + box.width)) - Math.min(...boxes.map(({ x }) => x))
  const height = Math.max(...boxes.map((box) => box.y + box.height)) - Math.min(...boxes.map(({ y }) => y))
  return `${Math.round(width)} × ${Math.round(height)}`
}

function noteHidden({ plan, findings }: Work, selector: string): void {
  const message = `the element shows nothing, or a box around it hides all of it: ${selector}`
  if (plan.options.errorOnSelectorNotFound) throw new CaptureError('SELECTOR_NOT_FOUND', message)
  // Without a match, there is a warning already.
  if (!findings.warnings.some((warning) => warning.startsWith(WHOLE_WINDOW))) findings.warnings.push(`${WHOLE_WINDOW}: ${message}`)
}

function checked({ findings }: Work, region: Tile, { contentWidth, contentHeight }: PageSize): Tile {
  if (region.x >= contentWidth || region.y >= contentHeight) findings.warnings.push('the region is outside the page')
  return region
}

function cutToWindow({ plan, findings }: Work, region: Tile, size: PageSize): Tile | undefined {
  const part = withinWindow(region, plan.context.viewport, size)
  if (!part) findings.warnings.push(`${WHOLE_WINDOW}: the region is outside of it`)
  else if (part.width < region.width || part.height < region.height)
    findings.warnings.push(
      `the picture shows ${sizeOf([part])} of ${sizeOf([region])} pixels of the region: capture_beyond_viewport is false`,
    )
  return part
}

/** Measures the page. This also forces a layout, without which a screenshot right after loading may fail. */
export const measure: Step = {
  name: 'measure',
  onFailure: 'repeat',
  run: async (work) => {
    const { tab, plan, findings, signal } = work
    // The page may have begun a navigation during the delay. Follow it, because the client would not see the old document.
    await follow(work)
    const { cssContentSize, cssVisualViewport } = await awaitResponse(tab.session.send('Page.getLayoutMetrics'), signal)
    const { width: contentWidth, height: contentHeight } = cssContentSize
    const { pageX, pageY: scrollY, clientWidth, scale } = cssVisualViewport
    const startX = contentWidth > clientWidth ? await callInPage(work, 'readStart') : 0
    findings.size = {
      contentWidth,
      contentHeight,
      scrollX: startX + pageX,
      scrollY,
      startX,
      scale: exactScale(plan.context.viewport.width, scale),
    }
  },
}

/** The browser rounds the scale. The exact one shows a whole number of CSS pixels. */
const exactScale = (windowWidth: number, scale: number): number => (scale === 1 ? 1 : windowWidth / Math.round(windowWidth / scale))

/** The browser rounds the width of content up. */
const TOLERANCE = 2

/** Adds warnings for a full page that is wider than its picture, and for a part of it that scrolls sideways. Parts that no reader can scroll to do not count. */
export const noteWidth: Step = {
  name: 'noteWidth',
  isWanted: ({ picture: { fullPage, clip }, options: { selector }, pages }) => fullPage && (selector ?? clip ?? pages) === undefined,
  run: async (work) => {
    const { plan, findings } = work
    const wider = await callInPage(work, 'findWiderPart')
    if (wider)
      findings.warnings.push(
        `the picture shows ${wider.width} of ${wider.whole} pixels of the width of ${wider.part}, which scrolls sideways. Raise viewport_width by ${wider.whole - wider.width}`,
      )
    if (!findings.size || plan.options.fullPageFullWidth) return
    const [wide, shown] = [findings.size.contentWidth, windowAt(plan.context.viewport, findings.size).width]
    if (wide < shown + TOLERANCE || (await callInPage(work, 'hidesSides'))) return
    const advice = 'Set full_page_full_width to true, or raise viewport_width'
    findings.warnings.push(`the page is ${Math.round(wide)} pixels wide, but the picture shows ${Math.round(shown)} of them. ${advice}`)
  },
}
