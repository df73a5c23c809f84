import type { ImageFormat } from '@tintype/crds/capture-options/image'
import { CaptureError } from '../errors.ts'
import { answered, pause } from '../race.ts'
import { stitch } from '../stitch.ts'
import { type Cut, cutPage, type Tile } from '../tiles.ts'
import { checkMainFrame } from './navigate.ts'
import type { Step, Work } from './step.ts'

const RETRY_MILLISECONDS = 50

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
  const { format, quality } = work.plan.picture
  const [first, ...rest] = cut.tiles
  if (!first || rest.length > 0) return stitch(cut.tiles, (tile) => shoot(work, PNG, tile), { format, quality, signal: work.signal })
  return shoot(work, format === 'png' ? PNG : { format, ...(quality === undefined ? {} : { quality }) }, cut.isWindow ? undefined : first)
}

interface Encoding {
  format: ImageFormat
  quality?: number
  optimizeForSpeed?: boolean
}

/** A seventh larger than the smallest png and five times as fast. */
const PNG: Encoding = { format: 'png', optimizeForSpeed: true }

/** One shot; a second one when the browser had nothing to show yet. @param tile absent: the window as it is */
async function shoot(work: Work, encoding: Encoding, tile: Tile | undefined): Promise<Buffer> {
  // This session knows nothing of the context's scale: unless told, it would scale the picture down to CSS pixels.
  const clip = tile ? { captureBeyondViewport: true, clip: { ...tile, scale: work.plan.context.deviceScaleFactor } } : {}
  const take = async () => {
    const { data } = await answered(work.tab.session.send('Page.captureScreenshot', { ...encoding, ...clip }), work.signal)
    // Chromium's answer to a picture that it cannot encode.
    if (data.length === 0) throw new Error('the browser answered with an empty picture')
    return Buffer.from(data, 'base64')
  }
  try {
    return await take()
  } catch (error) {
    work.signal.throwIfAborted()
    if (error instanceof CaptureError) throw error
    await pause(RETRY_MILLISECONDS, work.signal)
    await answered(work.tab.session.send('Page.getLayoutMetrics'), work.signal)
    return take()
  }
}

async function clearBackground({ tab, signal }: Work): Promise<void> {
  await answered(tab.session.send('Emulation.setDefaultBackgroundColorOverride', { color: { r: 0, g: 0, b: 0, a: 0 } }), signal)
}
