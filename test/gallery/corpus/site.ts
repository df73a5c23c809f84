import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import sharp from 'sharp'
import { serveDocuments } from '../../sites/src/documents.ts'
import { buildDocument, type Page, pathOf, type WrittenPage } from './page.ts'
import { pages } from './pages.ts'

/** The corpus on loopback. */
export type CorpusSite = Awaited<ReturnType<typeof openCorpusSite>>

const ITEMS = ['Rope', 'Anchor', 'Lantern', 'Fender', 'Compass', 'Sail'].map((title, id) => ({
  id,
  title,
  price: 12 + id * 9,
  image: `/photo/${id + 1}.svg`,
}))

const operation = (summary: string, tag: string) => ({
  tags: [tag],
  summary,
  parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
  responses: { 200: { description: 'Done', content: { 'application/json': { schema: { $ref: '#/components/schemas/Boat' } } } } },
})
const OPENAPI = {
  openapi: '3.0.3',
  info: { title: 'Harbor', version: '1.0.0', description: 'Boats, piers and **tides**.' },
  tags: [{ name: 'boats' }, { name: 'piers' }],
  paths: Object.fromEntries(
    ['boats', 'piers'].flatMap((tag) => [
      [`/${tag}`, { get: operation(`List ${tag}`, tag), post: operation(`Create one of the ${tag}`, tag) }],
      [`/${tag}/{id}`, { get: operation(`Read one of the ${tag}`, tag), delete: operation(`Delete one of the ${tag}`, tag) }],
    ]),
  ),
  components: { schemas: { Boat: { type: 'object', properties: { name: { type: 'string' }, length: { type: 'number' } } } } },
}

/** Resources that pages fetch. */
const api: Readonly<Record<string, [type: string, body: string]>> = {
  '/api/items.json': ['application/json', JSON.stringify({ items: ITEMS })],
  '/api/rows.json': [
    'application/json',
    JSON.stringify(Array.from({ length: 60 }, (_, id) => ({ id, boat: `Boat ${id}`, meters: (id * 7) % 23 }))),
  ],
  '/api/items.html': [
    'text/html',
    ITEMS.map(({ title, image }) => `<section class="card"><h2>${title}</h2><img src="${image}" width="200"></section>`).join(''),
  ],
  '/api/openapi.json': ['application/json', JSON.stringify(OPENAPI)],
}

/**
 * Templates load libraries from public hosts. These patterns match such URLs without naming a host, and map them to the corpus packages:
 * `…/npm/NAME@VERSION/…` and `…/releases/vVERSION/…` (Font Awesome).
 */
const PUBLIC_URLS: readonly [pattern: RegExp, replacement: string][] = [
  [/https?:\/\/[\w.-]+\/npm\/((?:@[\w.-]+\/)?[\w.-]+?)(?:@[\w.^~-]*)?\/(?=[\w.-])/g, '/npm/$1/'],
  [/https?:\/\/[\w.-]+\/releases\/v[\d.]+\//g, '/npm/@fortawesome/fontawesome-free/'],
]

const rewritePublicUrls = (html: string): string => PUBLIC_URLS.reduce((text, [pattern, to]) => text.replaceAll(pattern, to), html)

/** Serves the pages. `delayMilliseconds` is added to every response. */
export async function openCorpusSite(cache: string, delayMilliseconds = 0) {
  const handle = corpusPages(cache)
  const server = createServer(async (request, response) => {
    const slow = /^\/slow\/(\d+)(\/.*)$/.exec(request.url ?? '')
    if (slow) request.url = slow[2] ?? '/'
    const milliseconds = delayMilliseconds + Number(slow?.[1] ?? 0)
    if (milliseconds > 0) await wait(milliseconds)
    handle(request, response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  return {
    /** Every page has its own site, so that absolute paths resolve to its package. */
    urlOf: (page: Page) => `http://${page.name}.example:${port}${pathOf(page)}`,
    close: (): void => server.close().closeAllConnections(),
  }
}

function corpusPages(cache: string): RequestListener {
  const rewritten = { edit: rewritePublicUrls }
  const stores: Readonly<Record<string, RequestListener>> = {
    npm: serveDocuments(path.join(cache, 'npm/node_modules'), '/', rewritten),
    debian: serveDocuments(path.join(cache, 'debian/root'), '/', rewritten),
    pypi: serveDocuments(path.join(cache, 'pypi'), '/', rewritten),
  }
  const roots = new Map(pages.flatMap((page) => ('root' in page && page.root ? [[page.name, page.root] as const] : [])))
  const written = new Map(pages.filter((page): page is WrittenPage => 'body' in page).map((page) => [page.name, page]))
  return async (request, response) => {
    const url = request.url ?? '/'
    const { pathname } = new URL(url, 'http://corpus')
    const page = written.get(pathname.slice('/page/'.length))
    if (pathname.startsWith('/page/') && page)
      return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(buildDocument(page))
    const fact = api[pathname]
    if (fact) return response.writeHead(200, { 'content-type': fact[0] }).end(fact[1])
    if (pathname.startsWith('/photo/'))
      return response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(drawPhoto(Number(/\d/.exec(pathname)?.[0] ?? 1)))
    if (pathname.startsWith('/tile/'))
      return response.writeHead(200, { 'content-type': 'image/png', 'access-control-allow-origin': '*' }).end(await drawTile(pathname))
    const root = roots.get(request.headers.host?.split('.')[0] ?? '')
    const [, store = '', rest = ''] = /^\/?(npm|debian|pypi)(\/.*)$/.exec(root === undefined ? url : root + url) ?? []
    const serve = stores[store]
    if (!serve) return response.writeHead(404).end()
    request.url = rest
    serve(request, response)
  }
}

const PHOTO_COLORS = ['#264653', '#2a9d8f', '#e9c46a', '#f4a261', '#e76f51', '#6a4c93']
const drawPhoto = (number: number): string => {
  const color = PHOTO_COLORS[(number - 1) % PHOTO_COLORS.length]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 130"><rect width="200" height="130" fill="${color}"/><circle cx="${30 + number * 22}" cy="40" r="22" fill="#fff8"/><path d="M0 130 60 60 100 100 140 50 200 130z" fill="#0005"/></svg>`
}

/** A map tile that shows its coordinates. */
async function drawTile(pathname: string): Promise<Buffer> {
  // The runner is in this process, and blocks the formats that it does not read.
  sharp.unblock({ operation: ['VipsForeignLoadSvg'] })
  const [, zoom = 0, x = 0, y = 0] = (/(\d+)\/(-?\d+)\/(-?\d+)/.exec(pathname) ?? []).map(Number)
  const hue = (x * 67 + y * 131) % 360
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="256" height="256" fill="hsl(${hue} 40% 80%)" stroke="#fff"/><path d="M0 ${60 + (x % 5) * 30} 256 ${90 + (y % 5) * 25}M${(y % 7) * 36} 0 ${(x % 7) * 36} 256" stroke="#fff" stroke-width="9"/><text x="80" y="140" font-size="22" font-family="Arial" fill="#456">${zoom}/${x}/${y}</text></svg>`
  return sharp(Buffer.from(svg)).png().toBuffer()
}
