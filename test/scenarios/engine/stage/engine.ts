import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { presign } from '@tintype/crds/crypto/presign'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { Client } from 'minio'
import { cache } from '../../../cluster/host/state.ts'
import { startMinio } from '../../../cluster/programs/minio.ts'
import { serveDocuments } from '../../../sites/src/documents.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import { must } from '../../harness/must.ts'
import type { Stage } from '../../harness/scenario.ts'
import { CORPUS_PATHS } from './corpus.ts'

/** Directory of the pages and tools of the benchmarks. It is outside the repository and can be deleted. */
export const benchCache = path.join(cache, 'bench')

/** Unpacks the Debian package, because slim systems exclude documents from installation. */
const BOOK = path.join(benchCache, 'book')
const HTML = path.join(BOOK, 'usr/share/doc/debian-handbook/html')

const BUCKET = 'tintype'
const REGION = 'us-east-1'
const SECONDS = 3_600

/** The browser of the machine. */
export const CHROMIUM = process.env.TINTYPE_CHROMIUM ?? '/usr/lib/chromium/chromium-headless-shell'

/** A separate store. */
export interface Store {
  /** A presigned PUT, as the operator creates it. */
  uploadOf: (key: string) => CaptureOrder['upload']
  read: (key: string) => Promise<Buffer>
}

/** Pages on loopback, and a store for pictures. */
export interface Engine {
  /** URLs of the corpus. */
  corpus: readonly string[]
  store: Store
}

/** The stage of scenarios with browsers and runners, but nothing else of the system. */
export const engineStage: Stage<Engine> = {
  name: 'engine',
  open: async (ends) => ({ corpus: await openCorpus(ends), store: await openStore(ends) }),
  about: () => 'pages and store are on loopback',
}

/** Serves on a free port of loopback. Returns its origin. */
export async function serve(ends: Ends, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.teardown(() => server.close().closeAllConnections())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Serves the handbook. Downloads it when it is missing. */
export async function openCorpus(ends: Ends): Promise<readonly string[]> {
  if (!existsSync(HTML)) await fetchBook()
  const origin = await serve(ends, serveDocuments(HTML, '/en-US/index.html'))
  return CORPUS_PATHS.map((name) => origin + name)
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

/** Starts MinIO on loopback. */
async function openStore(ends: Ends): Promise<Store> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-engine-'))
  ends.teardown(() => rm(directory, { recursive: true, force: true }))
  const { endpoint, port, accessKey, secretKey, stop } = await startMinio({ directory })
  ends.teardown(stop)
  const client = new Client({ endPoint: '127.0.0.1', port, useSSL: false, accessKey, secretKey, region: REGION, pathStyle: true })
  await client.makeBucket(BUCKET)
  const access = { endpoint, region: REGION, bucket: BUCKET, accessKey, secretKey }
  return {
    uploadOf: (key) => {
      const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
      const url = presign(access, { method: 'PUT', key, headers, expiresSeconds: SECONDS, now: new Date() })
      return { url, headers, maxBytes: 200 * 2 ** 20 }
    },
    read: async (key) => buffer(await client.getObject(BUCKET, key)),
  }
}
