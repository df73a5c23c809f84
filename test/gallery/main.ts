/**
 * `npm run gallery`: writes a page that shows each option with two pictures or videos, without it and with it, for review by a person. It uses the
 * browser of this machine and pages on loopback, and needs no cluster.
 *   -- --only dark_mode,device    only these options
 *   -- --to DIRECTORY             output directory (default .tintype/gallery)
 *
 * `npm run gallery -- --console`: every page of the web console of the cluster of `npm start`, light and dark, in .tintype/gallery/console.
 *   -- --console --only usage,keys       only these pages
 *
 * `npm run gallery -- --corpus`: captures of pages made from packages, compared with approved references; see docs/corpus.md.
 *   -- --corpus --only aos,vue           only these pages
 *   -- --corpus --delay 50               milliseconds added to every response
 *   -- --corpus --slow [--at-once 3]     pictures by plain Playwright with long waits, for visual comparison
 *   -- --corpus --repeat 10 --only aos  distinct files of ten captures, with and without the wait for visual stability
 *   -- --corpus --approve aos,vue:full   store references; --from runner or slow, --note TEXT
 */
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { openLists } from '../../capture-runner/src/blocking/lists.ts'
import type { Captured } from '../../capture-runner/src/capture/run.ts'
import { CaptureError } from '../../capture-runner/src/runtime/errors.ts'
import { type FileFormat, isMoving } from '../../crds/src/options/output/image.ts'
import { toSnakeCase } from '../../crds/src/text/snake-case.ts'
import { openSite } from '../bench/engine/site.ts'
import { repository } from '../cluster/host/state.ts'
import { ensureLists } from '../cluster/images/lists.ts'
import { openStudio, type Studio } from '../integration/capture-runner/stage/studio.ts'
import { createPages } from '../sites/src/server.ts'
import { startDnsServer } from '../support/servers/dns-server.ts'
import { captureConsole } from './console.ts'
import { runCorpus } from './corpus/main.ts'
import { atOrigin, type Entry, entries, splitPrivate, unseen, type Values } from './entry.ts'
import { buildGallery, type Pair, type Shown } from './html.ts'
import { galleryPages } from './pages.ts'

/** The site of all scenes: the shop, `/book/…` of the corpus, and `/sites/…` with known pixels. */
async function openGallerySite(): Promise<{ origin: string; close: () => void }> {
  const book = await openSite()
  const bookOrigin = new URL(book.corpus[0] ?? '').origin
  const sites = createPages()
  const server = createServer(
    galleryPages((request, response) => {
      const url = request.url ?? '/'
      if (url.startsWith('/book/')) return response.writeHead(302, { location: bookOrigin + url.slice('/book'.length) }).end()
      request.url = url.startsWith('/sites/') ? url.slice('/sites'.length) : url
      sites(request, response)
    }),
  )
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    origin: `http://harbour.example:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close().closeAllConnections()
      book.close()
    },
  }
}

/** Captures one picture. A failed capture is shown by its error. */
async function show(studio: Studio, { url, values, to, name }: { url: string; values: Values; to: string; name: string }): Promise<Shown> {
  const { options, privateOptions } = splitPrivate(values)
  try {
    const started = performance.now()
    const captured = await studio.shoot(url, options, { privateOptions })
    const file = `${name}.${options.format ?? 'png'}`
    if (captured.video) await copyFile(captured.video.file, path.join(to, file))
    else await writeFile(path.join(to, file), captured.picture)
    return { file, facts: await factsOf(captured, performance.now() - started) }
  } catch (error) {
    if (!(error instanceof CaptureError)) throw error
    return { facts: [`${error.code}: ${error.message}`] }
  }
}

async function factsOf({ picture, video, findings }: Captured, milliseconds: number): Promise<string[]> {
  const metadata = sharp(picture, { limitInputPixels: false }).metadata()
  const { width, height } = video ?? (await metadata.catch(() => ({ width: 0, height: 0 })))
  const files = [...findings.files].map(([type, file]) => `${type} of ${file.length} bytes`)
  const notes = Object.keys(findings.page).length > 0 ? [JSON.stringify(findings.page).slice(0, 600)] : []
  const size = width > 0 ? [`${width} × ${height}`] : []
  const frames = video ? [`${video.frames} frames, ${video.fps} in each second`] : []
  return [
    [...size, ...frames, `${video?.bytes ?? picture.length} bytes`, `${Math.round(milliseconds)} ms`, ...files].join(', '),
    ...findings.warnings,
    ...notes,
  ]
}

/** Runners of videos have a browser that draws frames on command, and other runners have not. */
interface Studios {
  pictures: Studio
  videos: Studio
}

async function showPair({ pictures, videos }: Studios, origin: string, to: string, entry: Entry): Promise<Pair> {
  const url = entry.path.startsWith('/') ? origin + entry.path : entry.path
  const name = toSnakeCase(entry.name)
  const studio = isMoving(entry.after.format as FileFormat | undefined) ? videos : pictures
  const before = await show(studio, { url, values: atOrigin(entry.before, origin), to, name: `${name}.without` })
  const after = await show(studio, { url, values: atOrigin(entry.after, origin), to, name })
  return { entry, before, after }
}

const TEXT = { type: 'string' } as const
const OPTIONS = {
  only: TEXT,
  to: TEXT,
  corpus: { type: 'boolean' },
  console: { type: 'boolean' },
  slow: { type: 'boolean' },
  delay: TEXT,
  'at-once': TEXT,
  approve: TEXT,
  repeat: TEXT,
  from: TEXT,
  note: TEXT,
} as const

function readOptions() {
  try {
    return parseArgs({ options: OPTIONS }).values
  } catch (error) {
    console.error(`${(error as Error).message}. The head of test/gallery/main.ts lists the options.`)
    process.exit(2)
  }
}

async function main(): Promise<void> {
  const values = readOptions()
  const only = values.only?.split(',')
  if (values.console) {
    process.stdout.write(`${await captureConsole(only)}\n`)
    return
  }
  if (values.corpus) {
    const { approve, note } = values
    const isRight = await runCorpus({
      ...(only ? { only } : {}),
      ...(approve ? { approve: approve.split(',') } : {}),
      ...(note ? { note } : {}),
      ...(values.repeat ? { repeat: Number(values.repeat) } : {}),
      delayMilliseconds: Number(values.delay ?? 0),
      slow: values.slow ?? false,
      atOnce: Number(values['at-once'] ?? 2),
      from: values.from === 'slow' ? 'slow' : 'runner',
    })
    process.exitCode = isRight ? 0 : 1
    return
  }
  const to = path.resolve(values.to ?? path.join(repository, '.tintype/gallery'))
  if (!only) await rm(to, { recursive: true, force: true })
  await mkdir(to, { recursive: true })
  const site = await openGallerySite()
  // Pages have host names, because filter lists ignore loopback addresses, and a third-party site needs another name.
  const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
  const common = { guard: { dnsServers: [names.address] }, lists: openLists(path.join(await ensureLists(), 'lists')) }
  const studios = { pictures: await openStudio(common), videos: await openStudio({ ...common, video: true }) }
  try {
    const pairs: Pair[] = []
    for (const entry of entries.filter(({ name }) => only?.includes(toSnakeCase(name)) ?? true)) {
      pairs.push(await showPair(studios, site.origin, to, entry))
      process.stdout.write(`${toSnakeCase(entry.name)}\n`)
    }
    await writeFile(path.join(to, 'index.html'), buildGallery(pairs, unseen))
    process.stdout.write(`${pairs.length} options: ${path.join(to, 'index.html')}\n`)
  } finally {
    await studios.pictures.close()
    await studios.videos.close()
    site.close()
    await names.close()
  }
}

await main()
