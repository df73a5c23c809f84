import { callInPage } from '../../page/call.ts'
import { isBlank, isTooLargeToBeBlank } from '../../picture/blank.ts'
import type { BrowserFormat } from '../../picture/encode.ts'
import { makeThumbnail, processPicture } from '../../picture/image-processing.ts'
import { makePreview } from '../../picture/preview.ts'
import { stitch } from '../../picture/stitch.ts'
import { type Cut, cutPage, isInWindow } from '../../picture/tiles.ts'
import type { Color, Tile } from '../../plan/picture.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { abortable, awaitResponse, bounded, pause } from '../../runtime/race.ts'
import { scrollTo } from '../full-page/scroll.ts'
import { shorten } from '../injection/syntax.ts'
import { checkMainFrame, warnOnce } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { passTime } from '../waiting/page-time.ts'
import { STOPPED } from '../waiting/still-page.ts'
import { includeClosedRoots } from '../whole-page.ts'
import { hasLateFiles } from './files.ts'

const RETRY_MILLISECONDS = 50
/** Time for a page to paint after a blank screenshot. */
const BLANK_MILLISECONDS = 200
/** The same for a page with pending requests, because its scripts may draw their results. */
const BUSY_MILLISECONDS = 3_000
const BLANK = 'the picture shows one color and almost nothing else'

/** Takes the screenshot, in one piece or in tiles. */
export const screenshot: Step = {
  name: 'screenshot',
  isWanted: (plan) => plan.pages === undefined && plan.video === undefined,
  run: async (work) => {
    const { tab, plan, findings } = work
    checkMainFrame(tab)
    const canvas = plan.picture.transparent ? TRANSPARENT : plan.picture.canvas
    if (canvas) await paintCanvas(work, canvas)
    if (!findings.size) throw new Error('screenshot comes after measure')
    const cut = cutPage(plan, findings.size, findings.region)
    findings.truncated = cut.truncated
    findings.frame = { x: cut.tiles[0]?.x ?? 0, y: cut.tiles[0]?.y ?? 0, scale: cut.scale }
    findings.warnings.push(...cut.warnings)
    const { captureMilliseconds } = plan
    const late = () => new CaptureError('TIMEOUT', `the picture was not taken within ${captureMilliseconds} ms`)
    using time = bounded(work.signal, captureMilliseconds, late)
    findings.picture = await takePicture({ ...work, signal: time.signal }, cut)
    if (work.clock?.hasEndedScripts) warnOnce(findings.warnings, STOPPED)
  },
}

async function takePicture(work: Work, cut: Cut): Promise<Buffer> {
  const [first, ...rest] = cut.tiles
  if (!first || rest.length > 0) return takeTiles(work, cut.tiles, cut.scale)
  const piece: Piece = { tile: first, scale: cut.scale }
  const take = () => shoot(work, cut.isWindow ? undefined : piece, piece)
  const { frames } = work.tab
  // A frame of the next page would delay this picture.
  await frames?.hold(work.signal)
  try {
    return await takePiece(work, first, cut.scale, take)
  } finally {
    frames?.release()
  }
}

async function takePiece(work: Work, { width, height }: Tile, scale: number, take: () => Promise<Buffer>): Promise<Buffer> {
  const taking = take()
  // From here on the browser draws and encodes for a while, so the next page may load meanwhile.
  // Some files, and those of a masked page, are saved after the picture.
  if (work.plan.options.maskSelectors === undefined && !hasLateFiles(work.plan)) work.onPageReady?.()
  const picture = await taking
  const pixels = width * height * scale ** 2
  const { blankPageAction } = work.plan.options
  if (
    blankPageAction === 'accept' ||
    isTooLargeToBeBlank(picture.length, pixels, requestedFormat(work).format) ||
    !(await isBlank(picture))
  )
    return picture
  const second = await takeLater(work, take)
  if (!(await isBlank(second))) return second
  if (blankPageAction === 'fail') throw new CaptureError('BLANK_PAGE', BLANK)
  work.findings.warnings.push(BLANK)
  work.findings.unfit = 'blank'
  return second
}

/** Takes the screenshot again after a moment, and repeatedly while the page is busy and blank. */
async function takeLater(work: Work, take: () => Promise<Buffer>): Promise<Buffer> {
  const until = performance.now() + BUSY_MILLISECONDS
  for (;;) {
    const { isBusy } = work.tab.lifecycle
    await passTime(work, BLANK_MILLISECONDS)
    const picture = await take()
    if (!isBusy || performance.now() > until || !(await isBlank(picture))) return picture
  }
}

async function takeTiles(work: Work, tiles: readonly Tile[], scale: number): Promise<Buffer> {
  const { format, quality } = requestedFormat(work)
  const taken = await stitch(tiles, (tile) => takeTile(work, { tile, scale }), { format, quality, signal: work.signal })
  if (taken.quality !== quality) {
    work.findings.warnings.push(`image_quality is ${taken.quality}: the page has too much detail for a webp of this size at ${quality}`)
  }
  return taken.picture
}

async function takeTile(work: Work, piece: Piece): Promise<Buffer> {
  const { fullPage, fullPageFixedElements } = work.plan.options
  // Fixed elements move with the scroll position.
  if (fullPage && fullPageFixedElements === 'keep') await scrollTo(work, piece.tile.y)
  return withRetry(work, () => shootRaw(work, FAST_PNG, piece))
}

/** A part of the page, and its device pixels per CSS pixel. */
interface Piece {
  tile: Tile
  scale: number
}

interface Encoding {
  format: BrowserFormat
  quality?: number
  optimizeForSpeed?: boolean
}

/** 15 % larger than the smallest PNG, but five times as fast. */
const FAST_PNG: Encoding = { format: 'png', optimizeForSpeed: true }

/** The format to request from the browser: the final one, or PNG if the runner processes the image. */
function requestedFormat({ plan }: Work): { format: BrowserFormat; quality: number | undefined } {
  const { format, quality } = plan.picture
  if (plan.processing || format === 'avif' || format === 'pdf') return { format: 'png', quality: undefined }
  return { format, quality }
}

/** Takes a screenshot, with fallbacks if the browser fails. @param clip absent: the window @param piece the same, or the window */
async function shoot(work: Work, clip: Piece | undefined, piece: Piece): Promise<Buffer> {
  const { format, quality } = requestedFormat(work)
  const isFast = work.plan.fastPng || work.plan.processing !== undefined
  const png: Encoding = isFast ? FAST_PNG : { format: 'png' }
  const encoding: Encoding = format === 'png' ? png : { format, ...(quality === undefined ? {} : { quality }) }
  try {
    return await withRetry(work, () => shootRaw(work, encoding, clip))
  } catch (error) {
    rethrowFinal(error, work)
    // The browser cannot encode a WebP with much detail. Otherwise, a piece is drawn outside of the window.
    return format === 'webp' ? takeTiles(work, [piece.tile], piece.scale) : shootRaw(work, encoding, piece)
  }
}

/** Tries again after a moment, in case the browser had no frame yet. */
async function withRetry(work: Work, take: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await take()
  } catch (error) {
    rethrowFinal(error, work)
    await pause(RETRY_MILLISECONDS, work.signal)
    await awaitResponse(work.tab.session.send('Page.getLayoutMetrics'), work.signal)
    return take()
  }
}

/** @throws errors that a retry or fallback cannot fix */
function rethrowFinal(error: unknown, { signal }: Work): void {
  signal.throwIfAborted()
  if (error instanceof CaptureError) throw error
}

async function shootRaw(work: Work, encoding: Encoding, piece: Piece | undefined): Promise<Buffer> {
  const { tab, signal } = work
  const clip = piece ? clipOf(work, piece) : {}
  const { deviceScaleFactor } = work.plan.context
  if (work.clock && deviceScaleFactor === 1 && (!piece || isWholeWindow(work, piece))) {
    const picture = await work.clock.draw(encoding, signal)
    if (picture) return picture
  }
  const shot = awaitResponse(tab.session.send('Page.captureScreenshot', { ...encoding, ...clip }), signal)
  const { data } = await (work.clock?.whileDrawing(shot, signal) ?? shot)
  // Chromium returns no data for an image that it cannot encode.
  if (data.length === 0) throw new Error('the browser returned an empty screenshot')
  return Buffer.from(data, 'base64')
}

/** Whether the picture of a frame, which has CSS pixels, shows exactly the piece. */
function isWholeWindow({ plan: { context }, findings: { size } }: Work, { tile, scale }: Piece): boolean {
  const isSameSize = tile.width === context.viewport.width && tile.height === context.viewport.height
  return size !== undefined && isSameSize && scale === 1 && isInWindow(tile, context.viewport, size)
}

/**
 * To capture beyond the window, the browser resizes the page for a moment, and map canvases then clear themselves. So this is only used if the
 * window does not contain the piece.
 */
function clipOf({ plan, findings }: Work, { tile, scale }: Piece) {
  const { size } = findings
  const isInside = size !== undefined && (size.scale ?? 1) === 1 && isInWindow(tile, plan.context.viewport, size)
  // The browser multiplies the scale of a clip by that of the window.
  return { captureBeyondViewport: !isInside, clip: { ...tile, scale: scale / plan.context.deviceScaleFactor } }
}

const TRANSPARENT: Color = { r: 0, g: 0, b: 0, alpha: 0 }

/** Sets the background of pages that set none. */
export async function paintCanvas({ tab, signal }: Pick<Work, 'tab' | 'signal'>, { r, g, b, alpha }: Color): Promise<void> {
  await awaitResponse(tab.session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r, g, b, a: alpha } }), signal)
}

/** Records where the elements of `compare_ignore` are, directly before the screenshot. They stay visible in the picture. */
export const ignoredElements: Step = {
  name: 'ignoredElements',
  onFailure: 'repeat',
  isWanted: ({ comparison, pages }) => comparison.ignoredSelectors.length > 0 && pages === undefined,
  run: async (work) => {
    const { plan, findings } = work
    const { ignoredSelectors } = plan.comparison
    await includeClosedRoots(work)
    const found = await callInPage(work, 'findIgnoredBoxes', ignoredSelectors)
    findings.ignoredElements = ignoredSelectors.map((selector, index) => ({ selector, areas: found[index] ?? [] }))
    for (const { selector, areas } of findings.ignoredElements) {
      if (areas.length === 0) findings.warnings.push(`compare_ignore matched no visible element: ${shorten(selector)}`)
    }
  },
}

/** Creates the preview, of the picture before its processing: only that has a size in CSS pixels. */
export const preview: Step = {
  name: 'preview',
  isWanted: (plan) => plan.preview !== undefined,
  run: async ({ plan, findings, signal }) => {
    const { preview: wanted } = plan
    if (!wanted || !findings.picture || !findings.frame) return
    const { file, places } = await abortable(makePreview(findings.picture, findings.frame.scale, wanted), signal)
    findings.files.set('preview', file)
    findings.preview = places
    if (places.shownWidth < places.width)
      findings.warnings.push(`the preview shows ${places.shownWidth} of ${places.width} CSS pixels of the width`)
  },
}

/** Converts the screenshot into its final form. */
export const process: Step = {
  name: 'process',
  isWanted: (plan) => plan.processing !== undefined,
  run: async ({ plan, findings, signal }) => {
    const { processing, fastPng, picture } = plan
    if (!processing || !findings.picture || picture.format === 'pdf') return
    const finish = { format: picture.format, quality: picture.quality, fastPng, processing }
    const processed = await abortable(processPicture(findings.picture, finish), signal)
    findings.picture = processed.picture
    findings.warnings.push(...processed.warnings)
  },
}

/** Creates the thumbnail. */
export const thumbnail: Step = {
  name: 'thumbnail',
  isWanted: (plan) => plan.thumbnail !== undefined,
  run: async ({ plan, findings, signal }) => {
    if (!plan.thumbnail || !findings.picture) return
    findings.files.set('thumbnail', await abortable(makeThumbnail(findings.picture, plan.thumbnail), signal))
  },
}
