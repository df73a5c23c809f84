import type { ImageFormat } from '@tintype/crds/capture-options/image'
import { isBlank, isTooLargeToBeBlank } from '../blank.ts'
import { CaptureError } from '../errors.ts'
import { answered, pause } from '../race.ts'
import { stitch } from '../stitch.ts'
import { type Cut, cutPage, type Tile } from '../tiles.ts'
import { checkMainFrame } from './navigate.ts'
import type { Step, Work } from './step.ts'

const RETRY_MILLISECONDS = 50
/** Milliseconds that a page gets to paint after a picture showed nothing. */
const BLANK_MILLISECONDS = 200

/** Takes the picture: in one shot, or in tiles that are joined. Raw DevTools: Playwright's own way costs 200 ms more. */
export const screenshot: Step = {
  name: 'screenshot',
  run: async (work) => {
    const { tab, plan, findings } = work
    checkMainFrame(tab)
    if (plan.picture.transparent) await clearBackground(work)
    if (!findings.size) throw new Error('screenshot comes after measure')
    const cut = cutPage(plan, findings.size)
    findings.truncated = cut.truncated
    findings.warnings.push(...cut.warnings)
    findings.picture = await takePicture(work, cut)
  },
}

async function takePicture(work: Work, cut: Cut): Promise<Buffer> {
  const [first, ...rest] = cut.tiles
  if (!first || rest.length > 0) return takeTiles(work, cut.tiles)
  const take = () => shoot(work, cut.isWindow ? undefined : first, first)
  const picture = await take()
  const pixels = first.width * first.height * work.plan.context.deviceScaleFactor ** 2
  if (isTooLargeToBeBlank(picture.length, pixels, work.plan.picture.format) || !(await isBlank(picture))) return picture
  await pause(BLANK_MILLISECONDS, work.signal)
  const second = await take()
  if (await isBlank(second)) work.findings.warnings.push('the picture shows one colour and nothing else')
  return second
}

async function takeTiles(work: Work, tiles: readonly Tile[]): Promise<Buffer> {
  const { format, quality } = work.plan.picture
  const taken = await stitch(tiles, (tile) => takeTile(work, tile), { format, quality, signal: work.signal })
  if (taken.quality !== quality) {
    work.findings.warnings.push(
      `image_quality is ${taken.quality}: the page shows more detail than a webp of this size can hold at ${quality}`,
    )
  }
  return taken.picture
}

const takeTile = (work: Work, tile: Tile): Promise<Buffer> => withRetry(work, () => shootRaw(work, PNG, tile))

interface Encoding {
  format: ImageFormat
  quality?: number
  optimizeForSpeed?: boolean
}

/** A seventh larger than the smallest png and five times as fast. */
const PNG: Encoding = { format: 'png', optimizeForSpeed: true }

/** One shot, and other ways when the browser refuses. @param clip absent: the window as it is @param tile the same, or the window */
async function shoot(work: Work, clip: Tile | undefined, tile: Tile): Promise<Buffer> {
  const { format, quality } = work.plan.picture
  const encoding: Encoding = format === 'png' ? PNG : { format, ...(quality === undefined ? {} : { quality }) }
  try {
    return await withRetry(work, () => shootRaw(work, encoding, clip))
  } catch (error) {
    giveUpOn(error, work)
    // Much detail is more than the browser can put into a webp.
    return format === 'webp' ? takeTiles(work, [tile]) : answered(shootByLibrary(work, encoding, clip), work.signal)
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

async function shootRaw({ tab, plan, signal }: Work, encoding: Encoding, tile: Tile | undefined): Promise<Buffer> {
  // This session knows nothing of the context's scale: unless told, it would scale the picture down to CSS pixels.
  const clip = tile ? { captureBeyondViewport: true, clip: { ...tile, scale: plan.context.deviceScaleFactor } } : {}
  const { data } = await answered(tab.session.send('Page.captureScreenshot', { ...encoding, ...clip }), signal)
  // Chromium's answer to a picture that it cannot encode.
  if (data.length === 0) throw new Error('the browser answered with an empty picture')
  return Buffer.from(data, 'base64')
}

function shootByLibrary({ tab, plan }: Work, { format, quality }: Encoding, tile: Tile | undefined): Promise<Buffer> {
  const { fullPage, transparent } = plan.picture
  return tab.page.screenshot({
    type: format,
    omitBackground: transparent,
    animations: 'allow',
    ...(quality === undefined ? {} : { quality }),
    ...(tile ? { clip: tile, fullPage } : {}),
  })
}

async function clearBackground({ tab, signal }: Work): Promise<void> {
  await answered(tab.session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } }), signal)
}
