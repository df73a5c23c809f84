import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { toCall } from '../../page/call.ts'
import type { PdfOutcome } from '../../page/functions.ts'
import { CaptureError } from '../../runtime/errors.ts'
import { abortable, awaitResponse } from '../../runtime/race.ts'
import type { Work } from '../step.ts'
import { openUrl } from './open-url.ts'
import { toViewer } from './pdf-viewer.ts'

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
export async function showPdf({ tab, plan, findings }: Work, url: string, signal: AbortSignal, arrive: () => Promise<void>): Promise<void> {
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
