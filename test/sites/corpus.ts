import { createReadStream, realpathSync, statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { html } from './html.ts'

const root = process.env.CORPUS ?? '/corpus'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
}

/** Serves a file of the corpus; links in it may lead to packages installed beside it. */
export function answerCorpus(pathname: string, response: ServerResponse): void {
  const path = normalize(decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname))
  try {
    const file = realpathSync(join(root, path))
    if (!statSync(file).isFile()) throw new Error('not a file')
    response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' })
    createReadStream(file).pipe(response)
  } catch {
    html(response, '<h1>not in the corpus</h1>', 404)
  }
}
