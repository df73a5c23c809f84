// Server behavior before a page is loaded.

import { createHash } from 'node:crypto'
import { escapeHtml, htmlOf, numberOf, page, type Routes, sendHtml } from './handler.ts'

/** A PDF of one green sheet. */
const GREEN_SHEET = [
  '%PDF-1.4',
  '1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj',
  '2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj',
  '3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R>> endobj',
  '4 0 obj <</Length 25>> stream\n0 1 0 rg 0 0 200 100 re f\nendstream endobj',
  'trailer <</Size 5/Root 1 0 R>>',
  '%%EOF',
].join('\n')

const green = htmlOf({ title: 'Arrived', style: 'html{background:#00ff00}' })

const FINGERPRINT_LENGTH = 8

/** The first characters of a text's SHA-256. `-` for no text. */
export const fingerprintOf = (text: string): string =>
  text === '' ? '-' : createHash('sha256').update(text).digest('hex').slice(0, FINGERPRINT_LENGTH)

/** Handlers for all kinds of responses. */
export const answering: Routes = {
  slow: ({ query, response }) => {
    setTimeout(() => sendHtml(response, green), numberOf(query, 'ms', 1_000, 600_000))
  },
  never: () => {},
  'never-loads': page(() => htmlOf({ title: 'Waits for a picture', style: 'html{background:#00ff00}', body: '<img alt="" src="/never">' })),
  'hang-up': ({ request }) => {
    request.socket.destroy()
  },
  'redirect-loop': ({ response }) => {
    response.writeHead(302, { location: '/redirect-loop' }).end()
  },
  download: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="file.zip"' }).end('PK')
  },
  pdf: ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/pdf' }).end(GREEN_SHEET)
  },
  // Shows the request of the browser, as a page and as JSON.
  headers: ({ request, response }) => {
    sendHtml(
      response,
      htmlOf({ title: request.headers['user-agent'] ?? '', body: `<pre>${escapeHtml(JSON.stringify(request.headers, null, 2))}</pre>` }),
    )
  },
  // Shows the authentication method in the title, without secrets. `?basic` requires basic authentication.
  fingerprints: ({ query, request: { headers }, response }) => {
    if (query.has('basic') && headers.authorization === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="sites"' }).end()
      return
    }
    const shown = [headers.authorization, headers.cookie, headers['x-api-key']].map((value) => fingerprintOf(String(value ?? '')))
    sendHtml(response, htmlOf({ title: shown.join(' '), style: 'html{background:#00ff00}' }))
  },
  healthz: ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n')
  },
}
