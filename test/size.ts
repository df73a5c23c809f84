// `npm run size`: files, lines and statements of each workspace and folder of tests. `npm run size -- BASE [REVISION]` compares two commits; without
// REVISION, BASE is compared with the files on disk. Closing notes of changes show it, and say why a number rises.

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'acorn'
import { full } from 'acorn-walk'
import { transform } from 'esbuild'
import { repository } from './cluster/host/state.ts'
import { checkOut } from './scenarios/releases/stage/old-release.ts'
import { listFiles } from './selection/changed-files.ts'

interface Size {
  files: number
  lines: number
  /** Statements and declarations of JavaScript, without types. Unlike lines, they do not depend on the width. */
  statements: number
  /** Lines of all other texts: JSON, YAML, templates, documents. */
  otherLines: number
}

const CODE = /\.(?:ts|tsx|mjs)$/
/** Lists of what npm, Go and pip resolved. */
const RESOLVED = /(?:^|\/)(?:package-lock\.json|go\.sum|requirements\.txt)$/
const PROGRAMS = /^(?:api-gateway\/(?:cli|client|console)|crds|operator|api-gateway|capture-runner|charts|docs)\//
const FOLDER_OF_TESTS = /^test\/[^/]+(?=\/)/
const NOT_COUNTED = new Set(['BlockStatement', 'EmptyStatement'])

/** The row of a file. */
const rowOf = (file: string): string =>
  PROGRAMS.exec(file)?.[0].slice(0, -1) ?? FOLDER_OF_TESTS.exec(file)?.[0] ?? (file.startsWith('test/') ? 'test' : '.')

async function countStatements(file: string, text: string): Promise<number> {
  const loader = file.endsWith('x') ? 'tsx' : 'ts'
  const { code } = await transform(text, { loader, jsx: 'automatic', tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } } })
  let statements = 0
  full(parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true }), ({ type }) => {
    if (/(?:Statement|Declaration)$/.test(type) && !NOT_COUNTED.has(type)) statements++
  })
  return statements
}

/** Sizes by row, of the files in a directory. */
async function measure(directory: string, files: readonly string[]): Promise<Map<string, Size>> {
  const sizes = new Map<string, Size>()
  for (const file of files) {
    if (RESOLVED.test(file)) continue
    const text = readFileSync(path.join(directory, file), 'utf8')
    if (text.includes('\0')) continue
    const row = rowOf(file)
    const size = sizes.get(row) ?? { files: 0, lines: 0, statements: 0, otherLines: 0 }
    sizes.set(row, size)
    const lines = text.split('\n').length - 1
    if (!CODE.test(file)) size.otherLines += lines
    else {
      size.files++
      size.lines += lines
      size.statements += await countStatements(file, text)
    }
  }
  return sizes
}

async function measureCommit(revision: string): Promise<Map<string, Size>> {
  const { directory } = await checkOut(revision)
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const files = entries.map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
  return measure(directory, files)
}

const measureDisk = async (): Promise<Map<string, Size>> => measure(repository, await listFiles())

const NOTHING: Size = { files: 0, lines: 0, statements: 0, otherLines: 0 }
const FIELDS = ['files', 'lines', 'statements', 'otherLines'] as const

function sum(sizes: Iterable<readonly [string, Size]>, isIncluded: (row: string) => boolean): Size {
  const total = { ...NOTHING }
  for (const [row, size] of sizes) if (isIncluded(row)) for (const field of FIELDS) total[field] += size[field]
  return total
}

function print(after: Map<string, Size>, before?: Map<string, Size>): void {
  const rows = [...new Set([...after.keys(), ...(before?.keys() ?? [])])].sort()
  const isTest = (row: string) => row.startsWith('test')
  const totals: [string, (row: string) => boolean][] = [
    ['all programs', (row) => !isTest(row)],
    ['all tests', isTest],
  ]
  const table = [
    ...rows.map((row) => [row, after.get(row) ?? NOTHING, before?.get(row) ?? NOTHING] as const),
    ...totals.map(([name, isIncluded]) => [name, sum(after, isIncluded), sum(before ?? [], isIncluded)] as const),
  ]
  const numbers = (now: number, was: number) =>
    `${now.toLocaleString('en-US').padStart(9)}${before ? formatChange(now - was).padStart(9) : ''}`
  const width = Math.max(...table.map(([name]) => name.length))
  const heading = ['files', 'lines', 'statements', 'other lines'].map((name) => name.padStart(before ? 18 : 12)).join('')
  console.log(`${' '.repeat(width)}${heading}`)
  for (const [name, now, was] of table)
    console.log(`${name.padEnd(width)}${FIELDS.map((field) => numbers(now[field], was[field]).padStart(before ? 18 : 12)).join('')}`)
}

const formatChange = (change: number): string =>
  change === 0 ? '' : `${change > 0 ? '+' : '-'}${Math.abs(change).toLocaleString('en-US')}`

const [base, revision] = process.argv.slice(2)
try {
  const before = base === undefined ? undefined : await measureCommit(base)
  print(revision === undefined ? await measureDisk() : await measureCommit(revision), before)
} catch (error) {
  console.error(
    `sizes cannot be read: ${error instanceof Error ? error.message.split('\n')[0] : error}. Name commits: npm run size -- BASE [REVISION]`,
  )
  process.exit(2)
}
