import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { CaptureError } from '../../../capture-runner/src/runtime/errors.ts'
import { repository } from '../../cluster/host/state.ts'
import { openStudio, type Studio } from '../../integration/capture-runner/stage/studio.ts'
import { startDnsServer } from '../../support/servers/dns-server.ts'
import { writeReport } from '../report.ts'
import { compareHashes, hashPicture, keepStillBlocks } from './compare.ts'
import { corpusCache, installPackages } from './packages.ts'
import type { Page } from './page.ts'
import { pages } from './pages.ts'
import { type References, readReferences, type Source, writeReferences } from './references.ts'
import { countDistinct, summarize, writeDistinct } from './repeat.ts'
import { buildSections, type Result, writeLine, writeTable } from './report.ts'
import { type CorpusSite, openCorpusSite } from './site.ts'
import { captureSlowly, type Mode, openSlowBrowser } from './slow.ts'

/** Options of the command line. */
export interface CorpusOptions {
  /** Names of pages; absent: all. */
  only?: readonly string[]
  /** Milliseconds added to every response. */
  delayMilliseconds: number
  /** Take the slow pictures instead of the runner's. */
  slow: boolean
  /** Concurrent slow captures. */
  atOnce: number
  /** Number of captures per page with and without the wait for visual stability, to count distinct files. */
  repeat?: number
  /** Store references of these, such as `aos` or `aos:full`. */
  approve?: readonly string[]
  /** Which pictures are approved. */
  from: Source
  /** Note to store with the references. */
  note?: string
}

const MODES: readonly Mode[] = ['window', 'full']
const OUTPUT = path.join(repository, '.tintype/gallery/corpus')
/** Pages with endless motion are captured slowly twice. Different blocks are excluded from their references. */
const AGAIN = '.again'

const fileOf = (source: Source, { name }: { name: string }, mode: Mode, again = ''): string => `${source}/${name}.${mode}${again}.png`
const inOutput = (file: string): string => path.join(OUTPUT, file)
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Runs the command. @returns true if every picture matches its reference */
export async function runCorpus(options: CorpusOptions): Promise<boolean> {
  await Promise.all(['runner', 'slow'].map((name) => mkdir(path.join(OUTPUT, name), { recursive: true })))
  if (options.approve) return approve(options.approve, options.from, options.note)
  await installPackages(say)
  const chosen = pages.filter(({ name }) => options.only?.includes(name) ?? true)
  const site = await openCorpusSite(corpusCache, options.delayMilliseconds)
  try {
    if (options.repeat !== undefined) return await repeatAll(chosen, site, options.repeat)
    if (options.slow) await captureAllSlowly(chosen, site, options.atOnce)
    else await captureAll(chosen, site)
  } finally {
    site.close()
  }
  return report(chosen)
}

/** Captures both modes with the runner, and stores the results of the record next to the files. */
const captureAll = (chosen: readonly Page[], site: CorpusSite): Promise<void> =>
  withStudio(async (studio) => {
    for (const page of chosen) for (const mode of MODES) await capture(studio, site.urlOf(page), page, mode)
  })

/** @returns true if each page without endless motion gives one file */
const repeatAll = (chosen: readonly Page[], site: CorpusSite, times: number): Promise<boolean> =>
  withStudio(async (studio) => {
    say(`mode    page                     without, with the wait: distinct files of ${times}`)
    const all = await countDistinct(studio, site, chosen, MODES, times, (distinct) => say(writeDistinct(distinct)))
    say(summarize(all, times))
    return all.every(({ moves, withWait }) => moves || withWait === 1)
  })

/** Page names of the corpus resolve to loopback. */
async function withStudio<T>(use: (studio: Studio) => Promise<T>): Promise<T> {
  const names = await startDnsServer(() => ({ addresses: ['127.0.0.1'] }))
  const studio = await openStudio({ guard: { dnsServers: [names.address] } })
  try {
    return await use(studio)
  } finally {
    await studio.close()
    await names.close()
  }
}

/** Data of a capture that is kept between runs. */
interface Taken {
  milliseconds: number
  notes: readonly string[]
  failed: boolean
}

async function capture(studio: Studio, url: string, page: Page, mode: Mode): Promise<void> {
  const file = inOutput(fileOf('runner', page, mode))
  const started = performance.now()
  const note = (notes: readonly string[], failed: boolean) => {
    const taken: Taken = { milliseconds: Math.round(performance.now() - started), notes, failed }
    return writeFile(`${file}.json`, JSON.stringify(taken))
  }
  try {
    const { picture, findings } = await studio.shoot(url, mode === 'full' ? { fullPage: true } : {})
    await note([...findings.warnings], false)
    await writeFile(file, picture)
  } catch (error) {
    if (!(error instanceof CaptureError)) throw error
    await note([`${error.code}: ${error.message}`], true)
  }
}

async function captureAllSlowly(chosen: readonly Page[], site: CorpusSite, atOnce: number): Promise<void> {
  const browser = await openSlowBrowser()
  const queue = chosen.flatMap((page) =>
    page.moves
      ? [
          { page, again: '' },
          { page, again: AGAIN },
        ]
      : [{ page, again: '' }],
  )
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const { page, again } = next
      const pictures = await captureSlowly(browser, page, site.urlOf(page)).catch((error: Error) =>
        say(`no slow picture of ${page.name}: ${error.message}`),
      )
      if (!pictures) continue
      for (const mode of MODES) await writeFile(inOutput(fileOf('slow', page, mode, again)), pictures[mode])
    }
  }
  try {
    await Promise.all(Array.from({ length: atOnce }, work))
  } finally {
    await browser.close()
  }
}

/** Compares the captures with the references, and writes the report. */
async function report(chosen: readonly Page[]): Promise<boolean> {
  const references = await readReferences()
  const results: Result[] = []
  for (const page of chosen) for (const mode of MODES) results.push(...(await evaluate(page, mode, references)))
  for (const result of results) say(writeLine(result))
  say(`\n${writeTable(results)}\n`)
  say(await writeReport(OUTPUT, `${results.length} captures`, buildSections(results)))
  return results.every(({ outcome }) => outcome === 'right' || outcome === 'unknown')
}

async function evaluate(page: Page, mode: Mode, references: References): Promise<Result[]> {
  const file = fileOf('runner', page, mode)
  const slow = fileOf('slow', page, mode)
  if (!existsSync(inOutput(`${file}.json`))) return []
  const { milliseconds, notes, failed } = JSON.parse(await readFile(inOutput(`${file}.json`), 'utf8')) as Taken
  const common = {
    name: page.name,
    kind: page.kind,
    mode,
    milliseconds,
    notes,
    ...(existsSync(inOutput(slow)) ? { slowPicture: slow } : {}),
  }
  if (failed) return [{ ...common, outcome: 'failed' }]
  const reference = references[page.name]?.[mode]
  if (!reference) return [{ ...common, outcome: 'unknown', picture: file }]
  const comparison = compareHashes(reference, await hashPicture(inOutput(file)))
  return [{ ...common, outcome: comparison.changed === 0 ? 'right' : 'changed', comparison, picture: file }]
}

/** Stores reviewed pictures as references. @throws when one was never captured */
async function approve(wanted: readonly string[], source: Source, note: string | undefined): Promise<boolean> {
  const references = await readReferences()
  for (const entry of wanted) {
    const [name = '', only] = entry.split(':')
    const page = pages.find((candidate) => candidate.name === name)
    if (!page) throw new Error(`the corpus does not contain the page ${name}`)
    for (const mode of MODES.filter((candidate) => only === undefined || candidate === only)) {
      const first = await hashPicture(inOutput(fileOf(source, page, mode)))
      const again = inOutput(fileOf('slow', page, mode, AGAIN))
      // The pictures of a page with motion come from two loads, so random content is excluded too.
      const kept = page.moves && existsSync(again) ? keepStillBlocks(first, await hashPicture(again)) : first
      references[name] = {
        ...references[name],
        [mode]: { approved: new Date().toISOString().slice(0, 10), source, ...(note ? { note } : {}), ...kept },
      }
    }
  }
  await writeReferences(references)
  say(`${wanted.length} approved`)
  return true
}
