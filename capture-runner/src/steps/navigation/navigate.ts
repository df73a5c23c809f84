import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { WaitState } from '@tintype/crds/options/page/loading'
import type { MainResponse } from '../../browser/lifecycle.ts'
import type { Tab } from '../../browser/tab.ts'
import { classifyFailure } from '../../egress/classify-failure.ts'
import { toCall } from '../../page/call.ts'
import type { PdfOutcome, PdfRequest } from '../../page/functions.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { abortable, awaitResponse, bounded } from '../../runtime/race.ts'
import type { Step, Work } from '../step.ts'

/** Maximum number of requests of one capture. */
const MAX_REQUESTS = 10_000

/** Warning of a page that reacts to a scroll or to the size of its window with a navigation. */
export const NAVIGATED = 'the page navigated or loaded again while it was prepared, so content that appears on scroll may be missing'

/** Opens the page and waits for every requested state, within one timeout. */
export const navigate: Step = {
  name: 'navigate',
  code: 'NAVIGATION_FAILED',
  run: async (work) => {
    const { tab, plan } = work
    tab.lifecycle.quiet = plan.quiet
    using time = bounded(work.signal, plan.options.timeout, () => tooSlow(plan.options.timeout))
    const answer = await openUrl(tab, { url: plan.url, ...refererOf(plan) }, time.signal)
    // Await here, because the timeout ends when this function returns.
    if (answer.isDownload) return await showFile(work, time.signal)
    if (answer.errorText && work.refusedHeaders !== undefined) {
      throw new CaptureError('INVALID_OPTIONS', `the browser refused headers or authorization: ${work.refusedHeaders}`)
    }
    if (answer.errorText) throw toFailure(tab, plan.url, answer.errorText)
    await arrive(work, time.signal)
  },
}

/** Shows a PDF; rejects any other file. The response event arrives only after another command has returned, see pageEventsOf. */
async function showFile(work: Work, signal: AbortSignal): Promise<void> {
  const { session, lifecycle } = work.tab
  await awaitResponse(session.send('Page.getLayoutMetrics'), signal)
  const { download } = lifecycle
  if (download?.mimeType === PDF && !work.plan.pages) return showPdf(work, download.url, signal, () => arrive(work, signal))
  throw new CaptureError('UNSUPPORTED_CONTENT', `the URL returns ${describeFile(download)}, not a page. ${INSTEAD}`)
}

const PDF = 'application/pdf'

const INSTEAD = 'Fetch the file itself, or give the URL of a page that shows it.'
/** MIME types that may appear in messages to the client, since a site may send anything. */
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/

function describeFile(response: MainResponse | undefined): string {
  const { mimeType = '', isAttachment = false } = response ?? {}
  const kind = mimeType === PDF ? 'a PDF' : isAttachment ? 'a file to save' : 'a file'
  return MIME_TYPE.test(mimeType) ? `${kind} (${mimeType})` : kind
}

/** Sends the client's referer unshortened, regardless of the page's referrer policy. */
const refererOf = ({ options: { referer } }: Work['plan']) =>
  referer === undefined ? {} : { referrer: referer, referrerPolicy: 'unsafeUrl' as const }

/** Waits for the new document if scripts or a click have started a navigation. */
export async function follow(work: Work): Promise<void> {
  const { plan } = work
  using time = bounded(work.signal, plan.options.timeout, () => tooSlow(plan.options.timeout))
  await arrive(work, time.signal)
}

/** After scripts that change the page: waits again for these states, of the document that is then shown. */
export async function arriveAgain(work: Work, states: readonly WaitState[]): Promise<void> {
  const { plan, tab } = work
  using time = bounded(work.signal, plan.options.timeout, () => tooSlow(plan.options.timeout))
  if (states.includes('networkidle')) tab.lifecycle.resetNetworkIdle()
  await arrive(work, time.signal, [...new Set([...plan.options.waitUntil, ...states])])
}

/**
 * Waits until the current document has reached the plan's states. A network that never becomes idle only adds a warning.
 * @throws CaptureError of the main frame's failure
 */
async function arrive(work: Work, signal: AbortSignal, states: readonly WaitState[] = work.plan.options.waitUntil): Promise<void> {
  const { tab } = work
  try {
    await tab.lifecycle.reach(
      states.filter((state) => state !== 'networkidle'),
      signal,
    )
    if (states.includes('networkidle')) await awaitIdleNetwork(work, signal)
  } catch (error) {
    if (!canContinue(work)) throw error
    warnOnce(work.findings.warnings, toMessage(error))
    tab.lifecycle.markReached(tab.lifecycle.missing(states))
  }
  checkMainFrame(tab)
}

/** Waits for an idle network, up to the plan's timeout. */
async function awaitIdleNetwork({ tab, plan, findings }: Work, signal: AbortSignal): Promise<void> {
  const { timeoutMilliseconds } = plan.quiet
  const notIdle = () => new CaptureError('TIMEOUT', `the network was not idle within ${timeoutMilliseconds} ms`)
  using time = bounded(signal, timeoutMilliseconds, notIdle)
  try {
    await tab.lifecycle.reach([...plan.options.waitUntil.filter((state) => state !== 'networkidle'), 'networkidle'], time.signal)
  } catch (error) {
    if (!isOnlyBusy(tab, plan.options.waitUntil)) throw error
    warnOnce(findings.warnings, `the network was not idle within ${timeoutMilliseconds} ms`)
    // Later steps would wait in vain, too.
    tab.lifecycle.markReached(['networkidle'])
  }
}

/** At the timeout, a best attempt continues with the current document, if there is one. */
const canContinue = ({ tab, plan, signal }: Work): boolean =>
  !signal.aborted && plan.options.bestAttempt && tab.lifecycle.document !== undefined && tab.lifecycle.failure === undefined

const toMessage = (error: unknown): string => (error instanceof Error ? error.message : 'the page did not load in time')

/** @throws CaptureError when the main frame failed or exceeded a limit */
export function checkMainFrame({ lifecycle, egress }: Tab): void {
  const { failure } = lifecycle
  if (failure?.kind === 'loop') throw new CaptureError('TOO_MANY_REDIRECTS', 'the page keeps navigating from document to document')
  if (failure) throw toFailureOf(egress.requestLog, failure.url, failure.netError)
  if (egress.requestLog.isExhausted) throw toFailureOf(egress.requestLog, '', undefined)
  if (lifecycle.requests > MAX_REQUESTS) {
    throw new CaptureError('RESOURCE_LIMIT', `the page made more than ${MAX_REQUESTS} requests`)
  }
}

const isOnlyBusy = ({ lifecycle }: Tab, states: readonly WaitState[]): boolean =>
  lifecycle.document !== undefined && !lifecycle.isMoving && lifecycle.missing(states).every((state) => state === 'networkidle')

function toFailure({ lifecycle, egress }: Tab, url: string, errorText: string): CaptureError {
  if (errorText === 'net::ERR_ABORTED' && !egress.requestLog.isExhausted) {
    return new CaptureError('NAVIGATION_FAILED', 'the URL returns no content')
  }
  return toFailureOf(egress.requestLog, lifecycle.failure?.url ?? url, errorText)
}

function toFailureOf(requestLog: Tab['egress']['requestLog'], url: string, netError: string | undefined): CaptureError {
  const { code, message } = classifyFailure(requestLog, url, netError)
  return new CaptureError(code, message)
}

const tooSlow = (milliseconds: number) => new CaptureError('TIMEOUT', `the page did not load within ${milliseconds} ms`)

/** Adds a warning that is not there yet. */
export const warnOnce = (warnings: string[], warning: string): void => {
  if (!warnings.includes(warning)) warnings.push(warning)
}

type Parameters = { url: string; referrer?: string; referrerPolicy?: 'unsafeUrl' }

/** Opens a URL in a tab. Resolves when its document has replaced the one before, or when none will. @throws the signal's reason */
async function openUrl({ session, frames }: Tab, parameters: Parameters, signal: AbortSignal) {
  // A frame that is under way when the document is replaced may keep the browser from ever drawing the new one.
  await frames?.stop(signal)
  const answer = await abortable(session.send('Page.navigate', parameters), signal)
  frames?.start()
  return answer
}

/** A page that draws the PDF of its own URL with PDF.js. */
const toViewer = (request: PdfRequest): string => `<!doctype html><html><head><meta charset="utf-8"><title></title>
<style>html { background: #fff } body { margin: 0 } canvas { display: block; width: 100% }</style></head><body><script type="module">
${toCall('showPdf', request)}
</script></body></html>`

// A PDF is parsed and drawn in the page's own process, inside the browser's sandbox. The runner opens the URL again and responds with a viewer.
// The viewer fetches the file as the page would, and PDF.js draws it. No byte of the file reaches the runner.

const MAX_BYTES = 64 * 1024 * 1024
/** About 200 MB of canvas. */
const MAX_PIXELS = 50_000_000
/** Files of the package that the viewer may request. In the image they are at the package's place (test/cluster/images/bundle.ts). */
const FILE = /^(?:build\/pdf(?:\.worker)?\.min\.mjs|cmaps\/[\w-]+\.bcmap|(?:standard_fonts|wasm|iccs)\/[\w-]+\.(?:pfb|ttf|wasm|icc))$/
const TYPES: Readonly<Record<string, string>> = { mjs: 'text/javascript', wasm: 'application/wasm' }

const MESSAGES = {
  'too large': `the PDF is larger than ${MAX_BYTES / 1024 / 1024} MiB`,
  gone: 'the URL returns a PDF, but not on a second request',
  encrypted: 'the PDF needs a password',
  damaged: 'the PDF is damaged',
  'not drawn': 'the PDF could not be drawn',
} satisfies Record<NonNullable<PdfOutcome['problem']>, string>

interface PausedRequest {
  requestId: string
  frameId: string
  resourceType: string
  request: { url: string }
}

/**
 * Shows a PDF in a viewer page at its own URL.
 * @param arrive waits for the viewer as for any page
 * @throws CaptureError UNSUPPORTED_CONTENT
 */
async function showPdf({ tab, plan, findings }: Work, url: string, signal: AbortSignal, arrive: () => Promise<void>): Promise<void> {
  if (plan.context.scriptsOff) throw new CaptureError('UNSUPPORTED_CONTENT', 'a PDF is drawn by a script. Set javascript_enabled to true.')
  const base = `/${randomUUID()}/`
  const { fullPage, fullPageMaxHeight } = plan.options
  const viewer = toViewer({ base, maxBytes: MAX_BYTES, maxHeight: fullPage ? fullPageMaxHeight : 0, maxPixels: MAX_PIXELS })
  const { session, mainFrame } = tab
  session.on('Fetch.requestPaused', (held) => {
    const isPage = held.resourceType === 'Document' && held.frameId === mainFrame
    const answer = isPage ? fulfill(held, 'text/html; charset=utf-8', Buffer.from(viewer)) : fulfillFile(held)
    answer.catch(() => {}) // the request may be gone by now
  })
  const fulfill = async ({ requestId }: PausedRequest, type: string, body: Buffer): Promise<void> => {
    const responseHeaders = [{ name: 'content-type', value: type }]
    await session.send('Fetch.fulfillRequest', { requestId, responseCode: 200, responseHeaders, body: body.toString('base64') })
  }
  const fulfillFile = async (held: PausedRequest): Promise<void> => {
    const { pathname } = new URL(held.request.url)
    const name = pathname.startsWith(base) ? pathname.slice(base.length) : ''
    const file = FILE.test(name) ? await readPackageFile(name).catch(() => undefined) : undefined
    if (file) return fulfill(held, TYPES[name.split('.').at(-1) ?? ''] ?? 'application/octet-stream', file)
    await session.send('Fetch.failRequest', { requestId: held.requestId, errorReason: 'BlockedByClient' })
  }
  const patterns = [{ urlPattern: '*', resourceType: 'Document' as const }, { urlPattern: `*${base}*` }]
  await awaitResponse(session.send('Fetch.enable', { patterns }), signal)
  try {
    await openUrl(tab, { url }, signal)
    await arrive()
    const shown = session.send('Runtime.evaluate', { expression: toCall('readPdfOutcome'), awaitPromise: true, returnByValue: true })
    const outcome = (await abortable(shown, signal)).result.value as PdfOutcome
    if (outcome.problem) throw new CaptureError('UNSUPPORTED_CONTENT', MESSAGES[outcome.problem])
    const { pages, shown: drawn } = outcome
    if (fullPage && drawn < pages) findings.warnings.push(`the picture shows the first ${drawn} of the ${pages} pages of the PDF`)
  } finally {
    session.send('Fetch.disable').catch(() => {})
  }
}

const readPackageFile = (name: string): Promise<Buffer> =>
  readFile(join(dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json')), name))
