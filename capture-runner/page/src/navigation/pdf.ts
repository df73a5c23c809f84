import type { PageFunctions, PdfOutcome, PdfRequest } from '../../../src/page/functions.ts'
import { recall, remember } from '../shared/state.ts'

// Runs in a page that the runner serves in the place of a PDF.

/** The part of PDF.js that is used here. */
interface PdfLibrary {
  getDocument: (source: object) => { promise: Promise<PdfFile> }
}

interface PdfFile {
  numPages: number
  getPage: (number: number) => Promise<PdfPage>
  getMetadata: () => Promise<{ info: { Title?: string } }>
}

interface PdfPage {
  getViewport: (size: { scale: number }) => { width: number; height: number }
  render: (parts: { canvas: HTMLCanvasElement; viewport: object }) => { promise: Promise<void> }
  cleanup: () => void
}

/** Chromium's limit of a canvas, in device pixels. */
const MAX_SIDE = 16_384

export const showPdf: PageFunctions['showPdf'] = (request) => {
  const outcome = show(request).catch(({ name }: Error): PdfOutcome => {
    if (name === 'PasswordException') return { problem: 'encrypted' }
    return { problem: name === 'InvalidPDFException' ? 'damaged' : 'not drawn' }
  })
  remember('pdfOutcome', outcome)
}

export const readPdfOutcome: PageFunctions['readPdfOutcome'] = () => recall('pdfOutcome') as Promise<PdfOutcome>

/** Each PDF page is as wide as the window. */
async function show({ base, maxBytes, maxHeight, maxPixels }: PdfRequest): Promise<PdfOutcome> {
  const { problem, data } = await read(maxBytes)
  if (problem) return { problem }
  // Without a worker, because the runner cannot fulfill a worker's requests.
  const [{ getDocument }] = await Promise.all([
    import(`${base}build/pdf.min.mjs`) as Promise<PdfLibrary>,
    import(`${base}build/pdf.worker.min.mjs`),
  ])
  const urls = { cMapUrl: `${base}cmaps/`, standardFontDataUrl: `${base}standard_fonts/`, wasmUrl: `${base}wasm/`, iccUrl: `${base}iccs/` }
  const file = await getDocument({ data, ...urls, maxImageSize: maxPixels }).promise
  const { info } = await file.getMetadata().catch(() => ({ info: { Title: '' } }))
  document.title = info.Title || (location.pathname.split('/').at(-1) ?? '')
  let left = maxPixels
  let shown = 0
  while (shown < file.numPages && (shown === 0 || (left > 0 && document.body.scrollHeight < maxHeight))) {
    const { pixels, isFull } = await draw(await file.getPage(shown + 1), left)
    left = isFull ? left - pixels : 0
    shown += 1
  }
  return { pages: file.numPages, shown }
}

async function read(
  maxBytes: number,
): Promise<{ problem: 'gone' | 'too large'; data?: undefined } | { problem?: undefined; data: Uint8Array }> {
  const response = await fetch(location.href)
  if (!response.ok) return { problem: 'gone' }
  const parts: Uint8Array<ArrayBuffer>[] = []
  let bytes = 0
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    bytes += part.length
    if (bytes > maxBytes) return { problem: 'too large' }
    parts.push(part)
  }
  return { data: new Uint8Array(await new Blob(parts).arrayBuffer()) }
}

async function draw(page: PdfPage, pixelsLeft: number): Promise<{ pixels: number; isFull: boolean }> {
  const size = page.getViewport({ scale: 1 })
  const full = (innerWidth * devicePixelRatio) / size.width
  const fitting = Math.min(Math.sqrt(pixelsLeft / (size.width * size.height)), MAX_SIDE / size.width, MAX_SIDE / size.height)
  const viewport = page.getViewport({ scale: Math.min(full, fitting) })
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(viewport.width))
  canvas.height = Math.max(1, Math.round(viewport.height))
  canvas.style.aspectRatio = `${size.width} / ${size.height}`
  document.body.append(canvas)
  await page.render({ canvas, viewport }).promise
  page.cleanup()
  return { pixels: canvas.width * canvas.height, isFull: full <= fitting }
}
