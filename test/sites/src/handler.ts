import type { IncomingMessage, ServerResponse } from 'node:http'

/** One request to a page. */
export interface Visit {
  request: IncomingMessage
  response: ServerResponse
  query: URLSearchParams
}

/** Responds to a request. */
export type Handler = (visit: Visit) => void

/** Routes by the first segment of the path. */
export type Routes = Record<string, Handler>

/** A number of the query, limited to what a pod can serve. */
export function numberOf(query: URLSearchParams, name: string, preset: number, maximum: number): number {
  const value = Number(query.get(name) ?? preset)
  return Number.isFinite(value) ? Math.min(maximum, Math.max(0, value)) : preset
}

/** Six hexadecimal digits of the query. */
export function colorOf(query: URLSearchParams, preset: string): string {
  const color = query.get('color') ?? preset
  return /^[0-9a-f]{6}$/i.test(color) ? color : preset
}

/** A complete document without margins, so that positions are exact. */
export function htmlOf({ title = 'Page', style = '', body = '', head = '' }): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>${head}<style>html,body{margin:0}${style}</style></head><body>${body}</body></html>`
}

/** Escapes text for HTML. */
export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Sends a document. */
export function sendHtml(
  response: ServerResponse,
  html: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', ...headers })
  response.end(html)
}

/** A handler that sends the same kind of document each time. */
export const page =
  (build: (query: URLSearchParams) => string): Handler =>
  ({ response, query }) =>
    sendHtml(response, build(query))
