import { readFile, realpath, stat } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import path from 'node:path'

const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.mjs': 'text/javascript',
  '.mp4': 'video/mp4',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.ttf': 'font/ttf',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
}

/** Serves the files of a directory. Its root redirects to `home`. `edit` changes the text of HTML files. */
export function serveDocuments(directory: string, home: string, { edit }: { edit?: (html: string) => string } = {}): RequestListener {
  return async (request, response) => {
    if (request.url === '/') {
      response.writeHead(302, { location: home }).end()
      return
    }
    const file = await findFile(directory, request.url ?? '/')
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('document not found\n')
      return
    }
    const type = TYPES[path.extname(file)] ?? 'application/octet-stream'
    const body = await readFile(file)
    response.writeHead(200, { 'content-type': type }).end(edit && type.startsWith('text/html') ? edit(body.toString()) : body)
  }
}

async function findFile(directory: string, url: string): Promise<string | undefined> {
  try {
    const { pathname } = new URL(url, 'http://documents')
    const wanted = path.join(directory, decodeURIComponent(pathname))
    const file = (await stat(wanted)).isDirectory() ? path.join(wanted, 'index.html') : wanted
    const real = await realpath(file)
    return real.startsWith(`${await realpath(directory)}${path.sep}`) ? real : undefined
  } catch {
    return undefined // missing, or an invalid path
  }
}
