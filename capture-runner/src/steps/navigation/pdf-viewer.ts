/** Parameters of the viewer. */
export interface PdfRequest {
  /** Base path of the PDF.js files. */
  base: string
  /** Maximum size of the PDF. */
  maxBytes: number
  /** Maximum height to draw, in CSS pixels. The first page is always drawn. */
  maxHeight: number
  /** Maximum number of device pixels to draw. The first page is always drawn, at a lower resolution if needed. */
  maxPixels: number
}

/** Result of the viewer. */
export type PdfOutcome =
  | { pages: number; shown: number; problem?: undefined }
  | { problem: 'too large' | 'gone' | 'encrypted' | 'damaged' | 'not drawn' }

/**
 * A page that draws the PDF of its own URL with PDF.js, each PDF page as wide as the window. It stores a promise of a {@link PdfOutcome} in
 * `pdfOutcome`. PDF.js runs without a worker, because the runner cannot fulfill a worker's requests.
 */
export const toViewer = (request: PdfRequest): string => `<!doctype html><html><head><meta charset="utf-8"><title></title>
<style>html { background: #fff } body { margin: 0 } canvas { display: block; width: 100% }</style></head><body><script type="module">
const { base, maxBytes, maxHeight, maxPixels } = ${JSON.stringify(request).replaceAll('<', '\\u003c')}

async function read() {
  const response = await fetch(location.href)
  if (!response.ok) return { problem: 'gone' }
  const parts = []
  let bytes = 0
  for await (const part of response.body) {
    bytes += part.length
    if (bytes > maxBytes) return { problem: 'too large' }
    parts.push(part)
  }
  return { data: new Uint8Array(await new Blob(parts).arrayBuffer()) }
}

function open({ getDocument }, data) {
  const urls = { cMapUrl: base + 'cmaps/', standardFontDataUrl: base + 'standard_fonts/', wasmUrl: base + 'wasm/', iccUrl: base + 'iccs/' }
  return getDocument({ data, ...urls, maxImageSize: maxPixels }).promise
}

async function draw(page, pixelsLeft) {
  const size = page.getViewport({ scale: 1 })
  const full = innerWidth * devicePixelRatio / size.width
  const fitting = Math.min(Math.sqrt(pixelsLeft / (size.width * size.height)), 16384 / size.width, 16384 / size.height)
  const viewport = page.getViewport({ scale: Math.min(full, fitting) })
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(viewport.width))
  canvas.height = Math.max(1, Math.round(viewport.height))
  canvas.style.aspectRatio = size.width + ' / ' + size.height
  document.body.append(canvas)
  await page.render({ canvas, viewport }).promise
  page.cleanup()
  return { pixels: canvas.width * canvas.height, isFull: full <= fitting }
}

async function show() {
  const { problem, data } = await read()
  if (problem) return { problem }
  const [pdfjs] = await Promise.all([import(base + 'build/pdf.min.mjs'), import(base + 'build/pdf.worker.min.mjs')])
  const file = await open(pdfjs, data)
  const { info } = await file.getMetadata().catch(() => ({ info: {} }))
  document.title = info.Title || location.pathname.split('/').at(-1)
  let left = maxPixels
  let shown = 0
  while (shown < file.numPages && (shown === 0 || (left > 0 && document.body.scrollHeight < maxHeight))) {
    const { pixels, isFull } = await draw(await file.getPage(shown + 1), left)
    left = isFull ? left - pixels : 0
    shown += 1
  }
  return { pages: file.numPages, shown }
}

globalThis.pdfOutcome = show().catch(({ name }) => {
  if (name === 'PasswordException') return { problem: 'encrypted' }
  return { problem: name === 'InvalidPDFException' ? 'damaged' : 'not drawn' }
})
</script></body></html>`
