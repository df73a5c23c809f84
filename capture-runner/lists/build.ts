// Builds the data files for blocking from npm packages: filter engines that load in milliseconds, and rules for consent banners. Also collects what
// their licenses require: versions, notices and the original texts. Runs when images are built, never at run time.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { ENGINE_VERSION, FiltersEngine } from '@ghostery/adblocker'
import { ENGINES, LIST_PACKAGE, type ListSource } from './sources.ts'

const run = promisify(execFile)

/** The engines only need to block requests and hide selectors. */
const ENGINE_CONFIG = {
  enableHtmlFiltering: false,
  enableMutationObserver: false,
  loadCSPFilters: false,
  loadExtendedSelectors: false,
  loadPreprocessors: false,
}

/** A list from the package. */
interface ListText extends ListSource {
  text: string
  version: string
  /** ISO 8601. */
  updated: string
}

/** Writes `lists/` (for the runner) and `doc/` (for the licenses) to the directory `to`. */
export async function buildLists(to: string): Promise<void> {
  const lists = path.join(to, 'lists')
  const doc = path.join(to, 'doc')
  await Promise.all([lists, doc].map((directory) => mkdir(directory, { recursive: true })))
  const unpacked = await fetchPackage()
  try {
    const made: ListText[] = []
    for (const [engine, sources] of Object.entries(ENGINES)) {
      const texts = await Promise.all(sources.map((source) => readList(unpacked, source)))
      const own = await readOwn(engine, doc)
      await writeFile(path.join(lists, `${engine}.engine`), compile([...texts.map(({ text }) => text), own]))
      for (const { filter, text } of texts) await writeFile(path.join(doc, `adguard-filter-${filter}.txt.gz`), gzipSync(text))
      made.push(...texts)
    }
    await copyFile(path.join(unpacked, 'LICENSE'), path.join(doc, 'COPYING.adguard-filters'))
    await placeConsent(lists, doc)
    await writeNotices(made, lists, doc)
  } finally {
    await rm(path.dirname(unpacked), { recursive: true, force: true })
  }
}

/** Compiles lists to one engine. Leaves out rules that only AdGuard's own programs support. */
function compile(texts: readonly string[]): Uint8Array {
  const lines = texts.flatMap((text) => text.split(/\r?\n/)).filter((line) => !/^\[\$|#@?[$%]\??#|\$\$|\$@\$/.test(line))
  return FiltersEngine.parse(lines.join('\n'), ENGINE_CONFIG).serialize()
}

/** The project's own rules for an engine. Most engines have none. */
async function readOwn(engine: string, doc: string): Promise<string> {
  const file = path.join(import.meta.dirname, 'own', `${engine}.txt`)
  const text = await readFile(file, 'utf8').catch(() => '')
  if (text !== '') await copyFile(file, path.join(doc, `own-${engine}.txt`))
  return text
}

/** Downloads the package from npm's registry and checks its checksum. Resolves to the unpacked directory. */
async function fetchPackage(): Promise<string> {
  const { name, version, integrity } = LIST_PACKAGE
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-lists-'))
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory, `${name}@${version}`], { cwd: directory })
  const answer = JSON.parse(stdout) as { filename: string }[] | Record<string, { filename: string }>
  const packed = Object.values(answer)[0]
  if (!packed) throw new Error(`npm pack returned no file for ${name}@${version}`)
  const file = path.join(directory, path.basename(packed.filename).replace(/^@/, '').replace('/', '-'))
  const digest = `sha512-${createHash('sha512')
    .update(await readFile(file))
    .digest('base64')}`
  if (digest !== integrity) throw new Error(`${name}@${version} has another checksum than in lists/sources.ts: ${digest}`)
  await run('tar', ['-xzf', file, '-C', directory])
  return path.join(directory, 'package')
}

async function readList(unpacked: string, source: ListSource): Promise<ListText> {
  const name = `ruleset_${source.filter}`
  const rules = JSON.parse(await readFile(path.join(unpacked, 'dist/filters/declarative', name, `${name}.json`), 'utf8')) as [
    { metadata: { rawFilterList: string } },
  ]
  const text = rules[0].metadata.rawFilterList
  const head = text.slice(0, 2_000)
  return {
    ...source,
    text,
    version: /^! Version: (\S+)/m.exec(head)?.[1] ?? '',
    updated: new Date(/^! TimeUpdated: (\S+)/m.exec(head)?.[1] ?? 0).toISOString(),
  }
}

async function placeConsent(lists: string, doc: string): Promise<void> {
  const directory = path.dirname(path.dirname(createRequire(import.meta.url).resolve('@duckduckgo/autoconsent')))
  await copyFile(path.join(directory, 'dist/autoconsent.playwright.js'), path.join(lists, 'consent.js'))
  await copyFile(path.join(directory, 'rules/compact-rules.json'), path.join(lists, 'consent-rules.json'))
  // The compact form has no rules to accept.
  await copyFile(path.join(directory, 'rules/rules.json'), path.join(lists, 'consent-rules-whole.json'))
  await copyFile(path.join(directory, 'LICENSE'), path.join(doc, 'COPYING.autoconsent'))
}

async function writeNotices(made: readonly ListText[], lists: string, doc: string): Promise<void> {
  const updated = made
    .map((list) => list.updated)
    .sort()
    .at(-1)
  const autoconsent = await versionOf('@duckduckgo/autoconsent')
  const versions = { updated, engineVersion: ENGINE_VERSION, lists: made.map(({ text: _, ...list }) => list), autoconsent }
  await writeFile(path.join(lists, 'versions.json'), `${JSON.stringify(versions, undefined, 2)}\n`)
  await writeFile(path.join(doc, 'versions.json'), `${JSON.stringify(versions, undefined, 2)}\n`)
  for (const file of ['build.ts', 'sources.ts']) await copyFile(path.join(import.meta.dirname, file), path.join(doc, file))
  const named = made.map(
    ({ name, version, filter, updated: at }) => `  ${name}, version ${version} of ${at}: adguard-filter-${filter}.txt.gz`,
  )
  await writeFile(
    path.join(doc, 'NOTICES'),
    `The files in /app/lists are data for the capture runner. They are separate works under their own licenses.

*.engine: filter lists in a binary form, built by build.ts from the texts beside this file, which are
unchanged copies from ${LIST_PACKAGE.name} ${LIST_PACKAGE.version}. License: ${LIST_PACKAGE.license} (COPYING.adguard-filters).
EasyList, which the Base filter contains, is © its authors (https://easylist.to), under GPL-3.0 or CC BY-SA 3.0.

${named.join('\n')}

consent.js, consent-rules.json, consent-rules-whole.json: unchanged files of @duckduckgo/autoconsent ${autoconsent}, MPL-2.0 (COPYING.autoconsent);
source: https://github.com/duckduckgo/autoconsent
`,
  )
}

async function versionOf(name: string): Promise<string> {
  const directory = path.dirname(path.dirname(createRequire(import.meta.url).resolve(name)))
  return (JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8')) as { version: string }).version
}
