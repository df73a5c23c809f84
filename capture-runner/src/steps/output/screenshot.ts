import type { Page } from 'playwright-core'
import { isBlank, isTooLargeToBeBlank } from '../../picture/blank.ts'
import type { BrowserFormat } from '../../picture/encode.ts'
import { stitch } from '../../picture/stitch.ts'
import { type Cut, cutPage, isInWindow } from '../../picture/tiles.ts'
import type { Color } from '../../plan/image.ts'
import type { Tile } from '../../plan/region.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { answered, bounded, pause } from '../../runtime/race.ts'
import { scrollTo } from '../full-page/scroll-to.ts'
import { checkMainFrame } from '../navigation/navigate.ts'
import type { Step, Work } from '../step.ts'
import { passTime } from '../waiting/pass-time.ts'

const RETRY_MILLISECONDS = 50
/** Milliseconds that a page gets to paint after a picture showed nothing. */
const BLANK_MILLISECONDS = 200
/** The same while it still asks for something: its scripts may draw it from what they get. */
const BUSY_MILLISECONDS = 3_000
const BLANK = 'the picture shows one color and nothing else'

/** Takes the picture: in one shot, or in tiles that are joined. Raw DevTools: Playwright's own way costs 200 ms more. */
export const screenshot: Step = {
  name: 'screenshot',
  isWanted: (plan) => plan.pages === undefined,
  run: async (work) => {
    const { tab, plan, findings } = work
    checkMainFrame(tab)
    const canvas = plan.picture.transparent ? TRANSPARENT : plan.picture.canvas
    if (canvas) await paintCanvas(work, canvas)
    if (!findings.size) throw new Error('screenshot comes after measure')
    const cut = cutPage(plan, findings.size, findings.region)
    findings.truncated = cut.truncated
    findings.warnings.push(...cut.warnings)
    const { captureMilliseconds } = plan
    const late = () => new CaptureError('TIMEOUT', `the picture was not taken within ${captureMilliseconds} ms`)
    using time = bounded(work.signal, captureMilliseconds, late)
    findings.picture = await takePicture({ ...work, signal: time.signal }, cut)
  },
}

async function takePicture(work: Work, cut: Cut): Promise<Buffer> {
  const [first, ...rest] = cut.tiles
  if (!first || rest.length > 0) return takeTiles(work, cut.tiles, cut.scale)
  const piece: Piece = { tile: first, scale: cut.scale }
  const take = () => shoot(work, cut.isWindow ? undefined : piece, piece)
  const taking = take()
  // The browser draws and encodes by itself for a while: a page that loads meanwhile is not in its way.
  work.onShutter?.()
  const picture = await taking
  const pixels = first.width * first.height * cut.scale ** 2
  const { blankAction } = work.plan
  if (blankAction === 'accept' || isTooLargeToBeBlank(picture.length, pixels, masterOf(work).format) || !(await isBlank(picture)))
    return picture
  const second = await takeLater(work, take)
  if (!(await isBlank(second))) return second
  if (blankAction === 'fail') throw new CaptureError('BLANK_PAGE', BLANK)
  work.findings.warnings.push(BLANK)
  return second
}

/** Takes it again after a moment, and again while the page is busy and shows nothing. */
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
  const { format, quality } = masterOf(work)
  const taken = await stitch(tiles, (tile) => takeTile(work, { tile, scale }), { format, quality, signal: work.signal })
  if (taken.quality !== quality) {
    work.findings.warnings.push(
      `image_quality is ${taken.quality}: the page shows more detail than a webp of this size can hold at ${quality}`,
    )
  }
  return taken.picture
}

async function takeTile(work: Work, piece: Piece): Promise<Buffer> {
  const { fullPage, fixedElements } = work.plan.picture
  // Where the page is scrolled to is where its fixed elements are.
  if (fullPage && fixedElements === 'keep') await scrollTo(work, piece.tile.y)
  return withRetry(work, () => shootRaw(work, FAST_PNG, piece))
}

/** A part of the page, and device pixels for each of its CSS pixels. */
interface Piece {
  tile: Tile
  scale: number
}

interface Encoding {
  format: BrowserFormat
  quality?: number
  optimizeForSpeed?: boolean
}

/** A seventh larger than the smallest png and five times as fast. */
const FAST_PNG: Encoding = { format: 'png', optimizeForSpeed: true }

/** What the browser is asked for: the file itself, or a png for what is done to it afterwards. */
function masterOf({ plan }: Work): { format: BrowserFormat; quality: number | undefined } {
  const { format, quality } = plan.picture
  if (plan.processing || format === 'avif' || format === 'pdf') return { format: 'png', quality: undefined }
  return { format, quality }
}

/** One shot, and other ways when the browser refuses. @param clip absent: the window as it is @param piece the same, or the window */
async function shoot(work: Work, clip: Piece | undefined, piece: Piece): Promise<Buffer> {
  const { format, quality } = masterOf(work)
  const isFast = work.plan.fastPng || work.plan.processing !== undefined
  const png: Encoding = isFast ? FAST_PNG : { format: 'png' }
  const encoding: Encoding = format === 'png' ? png : { format, ...(quality === undefined ? {} : { quality }) }
  try {
    return await withRetry(work, () => shootRaw(work, encoding, clip))
  } catch (error) {
    giveUpOn(error, work)
    // Much detail is more than the browser can put into a webp.
    return format === 'webp' ? takeTiles(work, [piece.tile], piece.scale) : shootOtherwise(work, encoding, clip, piece)
  }
}

/** A second time, after a moment, when the browser had nothing to show yet. */
async function withRetry(work: Work, take: () => Promise<Buffer>): Promise<Buffer> {
  try {
    return await take()
  } catch (error) {
    giveUpOn(error, work)
    await pause(RETRY_MILLISECONDS, work.signal)
    await answered(work.tab.session.send('Page.getLayoutMetrics'), work.signal)
    return take()
  }
}

/** @throws what no other way of taking the picture would change */
function giveUpOn(error: unknown, { signal }: Work): void {
  signal.throwIfAborted()
  if (error instanceof CaptureError) throw error
}

async function shootRaw(work: Work, encoding: Encoding, piece: Piece | undefined): Promise<Buffer> {
  const { tab, signal } = work
  const clip = piece ? clipOf(work, piece) : {}
  const shot = answered(tab.session.send('Page.captureScreenshot', { ...encoding, ...clip }), signal)
  const { data } = await (work.clock?.whileDrawing(shot, signal) ?? shot)
  // Chromium's answer to a picture that it cannot encode.
  if (data.length === 0) throw new Error('the browser answered with an empty picture')
  return Buffer.from(data, 'base64')
}

/**
 * To capture beyond the window, the browser gives the page another size for a moment: canvases of maps then clear themselves. Not done where the window
 * holds the piece.
 */
function clipOf({ plan, findings }: Work, { tile, scale }: Piece) {
  const isInside = findings.size !== undefined && isInWindow(tile, plan.context.viewport, findings.size)
  // This session knows nothing of the context's scale: unless told, it would scale the picture down to CSS pixels.
  return { captureBeyondViewport: !isInside, clip: { ...tile, scale } }
}

/** By Playwright where there is a page of its; else as a part of the page, which is drawn beside the window. */
function shootOtherwise(work: Work, encoding: Encoding, clip: Piece | undefined, piece: Piece): Promise<Buffer> {
  const { page } = work.tab
  return page ? answered(shootByPlaywright(page, work.plan, encoding, clip), work.signal) : shootRaw(work, encoding, piece)
}

function shootByPlaywright(page: Page, plan: Work['plan'], { format, quality }: Encoding, piece: Piece | undefined): Promise<Buffer> {
  const { fullPage, transparent } = plan.picture
  return page.screenshot({
    type: format,
    omitBackground: transparent,
    animations: 'allow',
    ...(quality === undefined ? {} : { quality }),
    ...(piece ? { clip: piece.tile, fullPage } : {}),
  })
}

const TRANSPARENT: Color = { r: 0, g: 0, b: 0, alpha: 0 }

async function paintCanvas({ tab, signal }: Work, { r, g, b, alpha }: Color): Promise<void> {
  await answered(tab.session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r, g, b, a: alpha } }), signal)
}
