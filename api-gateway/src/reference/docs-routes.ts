import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { API_VERSION } from '../common/version.ts'
import { hasTag } from '../http/etag.ts'
import { PAGE, PAGE_HEADERS, START, STYLE } from './page.ts'

/** The package of the static files. test/cluster/images/bundle.ts puts them at the same path in the image. */
const PACKAGE = 'swagger-ui-dist/package.json'

interface Asset {
  type: string
  open: () => string | Readable
  /** The compressed file. Absent for a short text. */
  compress?: () => Promise<Buffer>
}

const SCRIPT = 'text/javascript; charset=utf-8'
const STYLESHEET = 'text/css; charset=utf-8'

/**
 * Files are streamed from disk. The page has few readers, and caching it would permanently take two megabytes of memory. The compressed file has a
 * quarter of that, and is kept after the first request: compressing takes a tenth of a second, and anybody can request it.
 */
function findAssets(): { assets: Record<string, Asset>; tag: string } {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve(PACKAGE)
  const { version } = require(PACKAGE) as { version: string }
  const fromPackage = (name: string, type: string): Asset => {
    const file = path.join(path.dirname(manifest), name)
    let compressed: Promise<Buffer> | undefined
    const compress = () => {
      compressed ??= readFile(file).then((bytes) => promisify(gzip)(bytes))
      // The next request tries again.
      compressed.catch(() => (compressed = undefined))
      return compressed
    }
    return { type, open: () => createReadStream(file), compress }
  }
  const assets: Record<string, Asset> = {
    'swagger-ui.css': fromPackage('swagger-ui.css', STYLESHEET),
    'swagger-ui-bundle.js': fromPackage('swagger-ui-bundle.js', SCRIPT),
    'start.js': { type: SCRIPT, open: () => START },
    'page.css': { type: STYLESHEET, open: () => STYLE },
  }
  return { assets, tag: `"${API_VERSION}-${version}"` }
}

async function send(request: FastifyRequest, reply: FastifyReply, { type, open, compress }: Asset): Promise<FastifyReply> {
  reply.type(type)
  if (!compress || !/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(open())
  return reply.header('content-encoding', 'gzip').send(await compress())
}

/** GET /docs: the API reference as a web page. Public, like the OpenAPI document. */
export function addDocsRoutes(app: FastifyInstance): void {
  const { assets, tag } = findAssets()
  const headers = { ...PAGE_HEADERS, etag: tag, 'cache-control': 'public, no-cache', vary: 'accept-encoding' }
  const respond = async (request: FastifyRequest, reply: FastifyReply, asset: Asset): Promise<FastifyReply> => {
    reply.headers(headers)
    return hasTag(request.headers['if-none-match'], tag) ? reply.code(304).send() : send(request, reply, asset)
  }
  const page: Asset = { type: 'text/html; charset=utf-8', open: () => PAGE }
  app.get('/docs', (request, reply) => respond(request, reply, page))
  // With a trailing slash the page's relative URLs would be wrong.
  app.get('/docs/', (_request, reply) => reply.redirect('../docs', 308))
  for (const [name, asset] of Object.entries(assets)) app.get(`/docs/${name}`, (request, reply) => respond(request, reply, asset))
}
