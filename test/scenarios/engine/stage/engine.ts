import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { presign } from '@tintype/crds/crypto/presign'
import type { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { run } from '../../../cluster/host/exec.ts'
import { cache } from '../../../cluster/host/state.ts'
import { serveDocuments } from '../../../sites/src/documents.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'
import { serve } from '../../../support/servers/serve.ts'
import { openTestStore } from '../../../support/servers/test-store.ts'
import type { Stage } from '../../harness/scenario.ts'
import { CORPUS_PATHS } from './corpus.ts'

/** Directory of the pages and tools of the benchmarks. It is outside the repository and can be deleted. */
export const benchCache = path.join(cache, 'bench')

/** Unpacks the Debian package, because slim systems exclude documents from installation. */
const BOOK = path.join(benchCache, 'book')
const HTML = path.join(BOOK, 'usr/share/doc/debian-handbook/html')

const BUCKET = 'tintype'
const SECONDS = 3_600

/** The browser of the machine. */
export const CHROMIUM = process.env.TINTYPE_CHROMIUM ?? '/usr/lib/chromium/chromium-headless-shell'

/** A separate store. */
export type Store = Awaited<ReturnType<typeof openStore>>

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

/** The stage of scenarios whose browsers and servers are in this process. */
export const browserStage: Stage<undefined> = {
  name: 'engine',
  open: async () => undefined,
  about: () => 'pages and store are on loopback',
}

/** Installs packages of npm outside the repository, and returns their directory. */
export async function installPackages(name: string, packages: Readonly<Record<string, string>>): Promise<string> {
  const home = path.join(benchCache, name)
  if (Object.keys(packages).every((each) => existsSync(path.join(home, 'node_modules', each)))) return home
  await mkdir(home, { recursive: true })
  await writeFile(path.join(home, 'package.json'), '{}')
  const wanted = Object.entries(packages).map(([each, version]) => `${each}@${version}`)
  // Peer dependencies would download other browsers.
  const flags = ['--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund']
  await run('npm', ['install', ...flags, ...wanted], { directory: home })
  return home
}

/** Serves the handbook. Downloads it when it is missing. */
export async function openCorpus(ends: Ends): Promise<readonly string[]> {
  if (!existsSync(HTML)) await fetchBook()
  const origin = await serve(ends, serveDocuments(HTML, '/en-US/index.html'))
  return CORPUS_PATHS.map((name) => origin + name)
}

async function fetchBook(): Promise<void> {
  await mkdir(benchCache, { recursive: true })
  await run('apt-get', ['download', 'debian-handbook'], { directory: benchCache })
  const file = (await readdir(benchCache)).find((name) => name.endsWith('.deb'))
  if (file === undefined) throw new Error('apt-get download created no package file')
  const partial = `${BOOK}.partial`
  await rm(partial, { recursive: true, force: true })
  await run('dpkg-deb', ['-x', file, partial], { directory: benchCache })
  await run('mv', ['-T', partial, BOOK])
}

/** Starts MinIO on loopback. */
async function openStore(ends: Ends) {
  const store = await openTestStore(ends)
  const client = store.connect()
  await client.makeBucket(BUCKET)
  return {
    /** A presigned PUT, as the operator creates it. */
    uploadOf: (key: string): CaptureOrder['upload'] => {
      const headers = { 'content-type': 'image/png', 'if-none-match': '*' }
      const url = presign(store.access(), { method: 'PUT', key, headers, expiresSeconds: SECONDS, now: new Date() })
      return { url, headers, maxBytes: 200 * 2 ** 20 }
    },
    read: async (key: string): Promise<Buffer> => buffer(await client.getObject(BUCKET, key)),
  }
}
