// The pages that tests capture: `node server.ts` in the cluster, `createPages()` in a test. README.md lists them with their pixels.

import { createServer, type RequestListener } from 'node:http'
import path from 'node:path'
import { answering } from './answering.ts'
import { behaving } from './behaving.ts'
import { serveDocuments } from './documents.ts'
import { drawn } from './drawn.ts'
import { htmlOf, type Routes, sendHtml } from './handler.ts'
import { hostile } from './hostile.ts'

const PAGES_PORT = 8080
const DOCUMENTS_PORT = 8081

const routes: Routes = { ...drawn, ...behaving, ...answering, ...hostile }

/** Handles requests for the pages. */
export function createPages(): RequestListener {
  const own: Routes = { ...routes, '': ({ response }) => sendHtml(response, index) }
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://pages')
    const [name = ''] = url.pathname.slice(1).split('/')
    const handler = Object.hasOwn(own, name) ? own[name] : undefined
    if (!handler)
      return sendHtml(response, htmlOf({ title: 'Not found', body: `no page is called ${name.replaceAll(/[^\w-]/g, '')}` }), {
        status: 404,
      })
    return handler({ request, response, query: url.searchParams })
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
  createServer(createPages()).listen(PAGES_PORT)
  createServer(serveDocuments(path.join(directory, 'documents'), '/en-US/index.html')).listen(DOCUMENTS_PORT)
  process.on('SIGTERM', () => process.exit(0))
}

if (import.meta.main) main()
