import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { API_VERSION } from '../common/version.ts'
import { hasTag } from '../http/headers.ts'

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

// The page at /docs: Swagger UI with the gateway's OpenAPI document. The gateway serves all files, so the page works without internet access. The
// CSP forbids other origins, inline scripts and frames.

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tintype API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript. Its source is <a href="api/v1/openapi.json">api/v1/openapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

/** `persistAuthorization: false` keeps API keys out of the browser's storage. */
const START = `if (matchMedia('(prefers-color-scheme: dark)').matches) document.documentElement.classList.add('dark-mode')
SwaggerUIBundle({
  url: 'api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  requestSnippetsEnabled: true,
  tryItOutEnabled: false,
  validatorUrl: null,
})
`

const STYLE = `body { margin: 0; background: #fff; }
.dark-mode body { background: #1c2022; }
noscript { display: block; margin: 2rem; font-family: sans-serif; }
.swagger-ui .info { margin: 2rem 0 1rem; }
`

/** The CSP can forbid inline styles, because Swagger UI sets its styles through the CSSOM. */
const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
} as const
