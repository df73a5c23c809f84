import { toCall } from '../../page/call.ts'
import type { PdfRequest } from '../../page/functions.ts'

/** A page that draws the PDF of its own URL with PDF.js. */
export const toViewer = (request: PdfRequest): string => `<!doctype html><html><head><meta charset="utf-8"><title></title>
<style>html { background: #fff } body { margin: 0 } canvas { display: block; width: 100% }</style></head><body><script type="module">
${toCall('showPdf', request)}
</script></body></html>`
