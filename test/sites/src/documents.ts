import { readFile, realpath, stat } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import path from 'node:path'

const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** Serves the files of a directory as they are; its root leads to `home`. */
export function serveDocuments(directory: string, home: string): RequestListener {
  return async (request, response) => {
    if (request.url === '/') {
      response.writeHead(302, { location: home }).end()
      return
    }
    const file = await findFile(directory, request.url ?? '/')
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('there is no such document\n')
      return
    }
    response.writeHead(200, { 'content-type': TYPES[path.extname(file)] ?? 'application/octet-stream' }).end(await readFile(file))
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
    return undefined // not there, or not a path
  }
}
