import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { cache } from '../../cluster/host/state.ts'
import { serveDocuments } from '../../sites/src/documents.ts'
import { createPages } from '../../sites/src/server.ts'
import { CORPUS_PATHS } from './corpus.ts'
import { must } from './must.ts'

/** Directory of the pages and tools of the benchmark. It is outside the repository and can be deleted. */
export const benchCache = path.join(cache, 'bench')

/** Unpacks the Debian package, because slim systems exclude documents from installation. */
const BOOK = path.join(benchCache, 'book')
const HTML = path.join(BOOK, 'usr/share/doc/debian-handbook/html')

/** The corpus and the pages with known pixels, on loopback. */
export interface Site {
  corpus: readonly string[]
  /** URL of a page of test/sites, such as `tall?height=25000`. */
  page: (name: string) => string
  close: () => void
}

/** Serves the pages. Downloads the handbook when it is missing. */
export async function openSite(): Promise<Site> {
  if (!existsSync(HTML)) await fetchBook()
  const [documents, pages] = await Promise.all([
    listen(createServer(serveDocuments(HTML, '/en-US/index.html'))),
    listen(createServer(createPages())),
  ])
  return {
    corpus: CORPUS_PATHS.map((name) => originOf(documents) + name),
    page: (name) => `${originOf(pages)}/${name}`,
    close: () => {
      for (const server of [documents, pages]) server.close().closeAllConnections()
    },
  }
}

async function fetchBook(): Promise<void> {
  await mkdir(benchCache, { recursive: true })
  await must('apt-get', ['download', 'debian-handbook'], { cwd: benchCache })
  const file = (await readdir(benchCache)).find((name) => name.endsWith('.deb'))
  if (file === undefined) throw new Error('apt-get download created no package file')
  const partial = `${BOOK}.partial`
  await rm(partial, { recursive: true, force: true })
  await must('dpkg-deb', ['-x', file, partial], { cwd: benchCache })
  await must('mv', ['-T', partial, BOOK], { cwd: benchCache })
}

async function listen(server: Server): Promise<Server> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

const originOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
