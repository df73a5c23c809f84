import type { PageNotes } from '@tintype/crds/kinds/page-notes'
import { MARKUP_URL } from '@tintype/crds/options/page/loading'
import { cutText } from '@tintype/crds/text/cut-text'
import type { Lifecycle } from '../../browser/lifecycle.ts'
import { callInPage } from '../../page/call.ts'
import type { DocumentFacts } from '../../page/functions.ts'
import sharp from '../../picture/library.ts'
import { SYNTHETIC_ADDRESS } from '../../plan/source.ts'
import { hashOf } from '../../runtime/content.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { abortable, awaitResponse } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

const ADDRESS_LENGTH = 2_048
const VALUE_LENGTH = 2_048
const MAX_HEADERS = 64
const MAX_REDIRECTS = 20
const MAX_FONTS = 32
/** Maximum number of elements whose fonts are read. */
const FONT_SAMPLE = 300
/** Notes that are read from the page before the screenshot. */
const OF_THE_PAGE = [
  ...(['metadataFinalUrl', 'metadataHttpResponseHeaders', 'metadataImageSize', 'metadataOpenGraph', 'metadataIcon'] as const),
  ...(['metadataFonts', 'metadataTimings', 'metadataLinks', 'metadataBlockedRequests'] as const),
] as const
/** Those that a page function reads. */
const OF_THE_DOCUMENT = {
  openGraph: 'metadataOpenGraph',
  icon: 'metadataIcon',
  timings: 'metadataTimings',
  links: 'metadataLinks',
} as const

/** Records the page data that options ask for. */
export const notePage: Step = {
  name: 'notePage',
  onFailure: 'warn',
  isWanted: ({ options }) => OF_THE_PAGE.some((name) => options[name]),
  run: async (work) => {
    const { plan, findings } = work
    const { options } = plan
    const page: PageNotes = findings.page
    if (options.metadataFinalUrl) page.redirects = redirectsOf(work)
    if (options.metadataHttpResponseHeaders) page.responseHeaders = headersOf(work)
    if (options.metadataImageSize) page.imageSize = true
    if (options.metadataBlockedRequests) page.blockedRequests = work.evaluator?.refused ?? 0
    if (options.metadataFonts) page.fonts = await findFonts(work)
    const wanted = (['openGraph', 'icon', 'timings', 'links'] as const).filter((note) => options[OF_THE_DOCUMENT[note]])
    if (wanted.length > 0) Object.assign(page, await callInPage(work, 'readNotes', wanted, { addressLength: ADDRESS_LENGTH }))
  },
}

/** Records the screenshot data that options ask for. */
export const notePicture: Step = {
  name: 'notePicture',
  isWanted: ({ options }) => options.metadataContentHash || options.metadataPalette,
  run: async ({ plan, findings, signal }) => {
    const { picture, page, video } = findings
    if (!picture) return
    const isRaster = plan.picture.format !== 'pdf' && !video
    const described = isRaster ? await abortable(describePicture(picture), signal) : undefined
    if (plan.options.metadataPalette && described) page.palette = described.palette
    if (!plan.options.metadataContentHash) return
    const sha256 = await hashOf(video ?? picture, 'sha256', signal)
    page.contentHash = { sha256, ...(described ? { perceptual: described.perceptualHash } : {}) }
  },
}

const redirectsOf = ({ findings }: Work): string[] =>
  (findings.journal?.documents ?? [])
    .slice(0, -1)
    .filter((url) => url.length <= ADDRESS_LENGTH)
    .slice(-MAX_REDIRECTS)

function headersOf({ findings }: Work): Record<string, string> {
  const lines = Object.entries(findings.journal?.headers ?? {})
    .map(([name, value]): [string, string] => [name.toLowerCase(), cutText(value, VALUE_LENGTH)])
    .filter(([name]) => name.length <= 128 && !/^set-cookie2?$/.test(name))
  return Object.fromEntries(lines.slice(0, MAX_HEADERS))
}

async function findFonts({ tab: { session }, signal }: Work): Promise<string[]> {
  await awaitResponse(Promise.all([session.send('DOM.enable'), session.send('CSS.enable')]), signal)
  const { root } = await awaitResponse(session.send('DOM.getDocument', { depth: 0 }), signal)
  const { nodeIds } = await awaitResponse(session.send('DOM.querySelectorAll', { nodeId: root.nodeId, selector: 'body, body *' }), signal)
  const step = Math.max(1, Math.ceil(nodeIds.length / FONT_SAMPLE))
  const sample = nodeIds.filter((_, index) => index % step === 0)
  const sent = sample.map((nodeId) => session.send('CSS.getPlatformFontsForNode', { nodeId }).catch(() => ({ fonts: [] })))
  const found = await awaitResponse(Promise.all(sent), signal)
  const names = new Set(found.flatMap(({ fonts }) => fonts.map(({ familyName }) => cutText(familyName, 128))))
  return [...names].sort().slice(0, MAX_FONTS)
}

// Describes an image in a few bytes.

/** Number of colors, and side of the sample in pixels. */
const MAX_COLORS = 6
const SIDE = 64
/** Number of bits per channel that distinguish colors. */
const KEPT_BITS = 4

/** Hash and colors of an image. */
interface PictureNotes {
  /** 64 bits in hex. Similar images differ in few bits. */
  perceptualHash: string
  /** `#rrggbb`, most frequent first. */
  palette: string[]
}

/** Computes hash and colors of an image. */
export async function describePicture(picture: Buffer): Promise<PictureNotes> {
  const open = () => sharp(picture, { limitInputPixels: false }).flatten({ background: '#ffffff' })
  const [gray, small] = await Promise.all([
    open().grayscale().resize(9, 8, { fit: 'fill' }).raw().toBuffer(),
    open().toColorspace('srgb').resize(SIDE, SIDE, { fit: 'fill', kernel: 'nearest' }).raw().toBuffer(),
  ])
  return { perceptualHash: toDifferenceHash(gray), palette: toPalette(small) }
}

/** Difference hash: whether each pixel is brighter than the next one in its row. @param gray 9 × 8 pixels, at least one byte each */
export function toDifferenceHash(gray: Buffer): string {
  const channels = gray.length / 72
  let bits = 0n
  for (let y = 0; y < 8; y++) {
    for (let x = 0; x < 8; x++) {
      const at = (column: number) => gray[(y * 9 + column) * channels] ?? 0
      bits = (bits << 1n) | (at(x) > at(x + 1) ? 1n : 0n)
    }
  }
  return bits.toString(16).padStart(16, '0')
}

/** The most frequent colors, with similar ones merged. @param pixels red, green, blue of each */
export function toPalette(pixels: Buffer): string[] {
  const boxes = new Map<number, { count: number; sum: [number, number, number] }>()
  for (let i = 0; i + 2 < pixels.length; i += 3) {
    const [r = 0, g = 0, b = 0] = pixels.subarray(i, i + 3)
    const shift = 8 - KEPT_BITS
    const key = ((r >> shift) << (2 * KEPT_BITS)) | ((g >> shift) << KEPT_BITS) | (b >> shift)
    const box = boxes.get(key) ?? { count: 0, sum: [0, 0, 0] }
    box.count++
    box.sum = [box.sum[0] + r, box.sum[1] + g, box.sum[2] + b]
    boxes.set(key, box)
  }
  const largest = [...boxes.values()].sort((a, b) => b.count - a.count).slice(0, MAX_COLORS)
  return largest.map(
    ({ count, sum }) =>
      `#${sum
        .map((channel) =>
          Math.round(channel / count)
            .toString(16)
            .padStart(2, '0'),
        )
        .join('')}`,
  )
}

const TITLE_LENGTH = 512
const URL_LENGTH = 8_192

/** Records title, URL and status of the captured page. */
export const metadata: Step = {
  name: 'metadata',
  onFailure: 'warn',
  run: async (work) => {
    const { tab, findings } = work
    const facts = await callInPage(work, 'readDocumentFacts')
    noteBrokenResponse(tab.lifecycle, facts, findings.warnings)
    findings.pageTitle = cutText(facts.title, TITLE_LENGTH)
    findings.finalUrl = cutText(facts.url === SYNTHETIC_ADDRESS ? MARKUP_URL : facts.url, URL_LENGTH)
    const status = tab.lifecycle.response?.status ?? facts.status
    if (status > 0) findings.httpStatus = status
    if (facts.isChallenged) findings.unfit = 'bot_challenge'
    findings.forms = facts.forms
    findings.isBrokenOff = tab.lifecycle.brokenOff !== undefined
  },
}

/** @throws CaptureError when the response broke off before any content, since the browser could not take a screenshot */
function noteBrokenResponse({ brokenOff }: Lifecycle, { hasBody }: DocumentFacts, warnings: string[]): void {
  if (brokenOff === undefined) return
  const how = brokenOff.replace(/^net::/, '')
  if (!hasBody) throw new CaptureError('NAVIGATION_FAILED', `the page’s response broke off before there was anything to show (${how})`)
  warnings.push(`the page’s response broke off, so the picture may not show all of it (${how})`)
}
