import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type Page, pathOf } from '../../gallery/corpus/page.ts'
import type { CorpusSite } from '../../gallery/corpus/site.ts'

/** The corpus behind a proxy that can add something to pages. */
export interface ChangingSite {
  urlOf: (page: Page) => string
  /** Adds HTML to the end of a page from now on. */
  change: (page: Page, html: string) => void
  close: () => void
}

/** Starts the proxy. */
export async function openChangingSite(site: CorpusSite, pages: readonly Page[]): Promise<ChangingSite> {
  const added = new Map<string, string>()
  const byName = new Map(pages.map((page) => [page.name, page]))
  const portOf = (page: Page): string => new URL(site.urlOf(page)).port
  const server = createServer((request, response) => {
    const page = byName.get(request.headers.host?.split('.')[0] ?? '')
    if (!page) return response.writeHead(404).end()
    const html = request.url === pathOf(page) ? added.get(page.name) : undefined
    const { method, url: path, headers } = request
    const onResponse = async (upstream: import('node:http').IncomingMessage) => {
      const { 'content-length': _, ...kept } = upstream.headers
      if (html === undefined) return upstream.pipe(response.writeHead(upstream.statusCode ?? 502, upstream.headers))
      const body = await buffer(upstream)
      return response.writeHead(upstream.statusCode ?? 502, kept).end(Buffer.concat([body, Buffer.from(html)]))
    }
    const upstream = send(
      { host: '127.0.0.1', port: portOf(page), method, path, headers: { ...headers, 'accept-encoding': 'identity' } },
      onResponse,
    )
    upstream.on('error', () => response.destroy())
    return request.pipe(upstream)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (page) => site.urlOf(page).replace(`:${portOf(page)}`, `:${port}`),
    change: (page, html) => void added.set(page.name, html),
    close: () => server.close().closeAllConnections(),
  }
}
