// The pages that tests capture: `node server.ts` in the cluster, `createPages()` in a test. README.md lists them with their pixels.

import { existsSync, readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import path from 'node:path'
import { answering } from './answering.ts'
import { behaving } from './behaving.ts'
import { serveDocuments } from './documents.ts'
import { drawn } from './drawn.ts'
import { htmlOf, type Routes, sendHtml } from './handler.ts'
import { hostile } from './hostile.ts'
import { reaching } from './reaching.ts'

const PAGES_PORT = 8080
const DOCUMENTS_PORT = 8081
const SECURE_PORT = 8443

const routes: Routes = { ...drawn, ...behaving, ...answering, ...hostile, ...reaching }

/** Handles requests for the pages. `authority` is the certificate that /ca.pem returns. */
export function createPages(authority = ''): RequestListener {
  const own: Routes = {
    ...routes,
    'ca.pem': ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/x-pem-file' }).end(authority)
    },
    '': ({ response }) => sendHtml(response, index),
  }
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://pages')
    const [name = '', ...rest] = url.pathname.slice(1).split('/')
    const handler = Object.hasOwn(own, name) ? own[name] : undefined
    if (!handler)
      return sendHtml(response, htmlOf({ title: 'Not found', body: `no page is called ${name.replaceAll(/[^\w-]/g, '')}` }), {
        status: 404,
      })
    return handler({ request, response, query: url.searchParams, rest: rest.join('/') })
  }
}

/** Names of the pages: first segments of paths. */
export const pageNames = Object.keys(routes)

const links = pageNames.map((name) => `<li><a href="/${name}">${name}</a></li>`)
const index = htmlOf({
  title: 'Pages to capture',
  style: 'body{margin:2rem;font:16px sans-serif}',
  body: `<h1>Pages to capture</h1><ul>${links.join('')}</ul>`,
})

function main(): void {
  const directory = process.env.SITES_DIRECTORY ?? '/srv'
  const tls = path.join(directory, 'tls')
  const authority = existsSync(tls) ? readFileSync(path.join(tls, 'ca.crt'), 'utf8') : ''
  const pages = createPages(authority)
  createServer(pages).listen(PAGES_PORT)
  createServer(serveDocuments(path.join(directory, 'documents'), '/en-US/index.html')).listen(DOCUMENTS_PORT)
  if (authority) {
    const [cert, key] = ['site.crt', 'site.key'].map((name) => readFileSync(path.join(tls, name)))
    createSecureServer({ cert, key }, pages).listen(SECURE_PORT)
  }
  process.on('SIGTERM', () => process.exit(0))
}

if (import.meta.main) main()
