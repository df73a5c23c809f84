import type { PageNotes } from '@tintype/crds/kinds/page-notes'
import { cutText } from '@tintype/crds/text/cut-text'
import { callInPage } from '../../page/call.ts'
import { describePicture } from '../../picture/picture-notes.ts'
import { hashOf } from '../../runtime/content.ts'
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
