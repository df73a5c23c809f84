import { globSync } from 'node:fs'
import t from 'tap'
import { repository } from '../../cluster/host/state.ts'
import { readText } from '../../support/sources/code-blocks.ts'
import { toSource } from '../../support/sources/source-files.ts'

// The packages that the package.json files declare, those that files import, and those in docs/dependencies.md are the same.

interface Manifest {
  workspaces?: string[]
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readText(folder === '' ? 'package.json' : `${folder}/package.json`)) as Manifest
const folders = ['', ...(readManifest('').workspaces ?? [])]

/** Declared packages with their versions, by workspace; '' is the repository itself. */
const declared = new Map(
  folders.map((folder) => {
    const { dependencies, devDependencies } = readManifest(folder)
    return [folder, new Map(Object.entries({ ...dependencies, ...devDependencies }))]
  }),
)
const isOwn = (name: string): boolean => name.startsWith('@tintype/')
const allDeclared = new Set([...declared.values()].flatMap((packages) => [...packages.keys()]).filter((name) => !isOwn(name)))

/** Fetched by capture-runner/lists and never installed. */
const FETCHED = '@adguard/dnr-rulesets'
/** Installed in the cache, to run the packed client. */
const { dependencies, optionalDependencies } = readManifest('test/clients/runtimes')
const RUNTIMES = Object.keys({ ...dependencies, ...optionalDependencies })
/** Types for the compiler, not for readers of the page. */
const UNLISTED = '@types/node'

/** npm packages in the first table of the page. */
function documented(): string[] {
  const [table = ''] = /^\| Package .*?(?=\n\n)/ms.exec(readText('docs/dependencies.md')) ?? []
  const cells = table
    .split('\n')
    .slice(2)
    .map((row) => row.split('|')[1]?.trim() ?? '')
  return cells.filter((cell) => !/\((PyPI|Maven)/.test(cell)).flatMap((cell) => cell.replace(/ \(.*\)$/, '').split(', '))
}

t.test('docs/dependencies.md lists the packages of all package.json files and no others', async (t) => {
  const names = documented()
  t.ok(names.length > 40, `${names.length} packages`)
  t.strictSame(
    names.filter((name) => !allDeclared.has(name) && !RUNTIMES.includes(name)),
    [FETCHED],
    'listed, but declared nowhere',
  )
  t.strictSame(
    [...allDeclared, ...RUNTIMES].filter((name) => !names.includes(name)),
    [UNLISTED],
    'declared, but not listed',
  )
  t.match(readText('capture-runner/lists/sources.ts'), `'${FETCHED}'`)
})

t.test('every package has one exact version', async (t) => {
  const loose = [...declared].flatMap(([folder, packages]) =>
    [...packages].filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version)).map(([name, version]) => `${folder}: ${name} ${version}`),
  )
  t.strictSame(loose, [])
})

/** Programs that are run, types that the compiler finds, and a package that the library for SBOMs loads. No file names them as a module. */
const TOOLS = /^(@biomejs\/biome|node|typescript|openapi-typescript|spdx-expression-parse|@types\/.+)$/

const filesOf = (folder: string): string[] =>
  globSync(`${folder === '' ? 'test' : folder}/**/*.ts`, { cwd: repository, exclude: ['**/node_modules/**', '**/dist/**'] })

t.test('every declared package is used in its workspace', async (t) => {
  for (const [folder, packages] of declared) {
    const text = [...filesOf(folder), ...(folder === '' ? filesOf('crds') : [])].map(readText).join('\n')
    // Imported, or named in the path or URL of one of its files.
    const isUsed = (name: string): boolean => [`'${name}'`, `'${name}/`, `/${name}/`].some((use) => text.includes(use))
    const unused = [...packages.keys()].filter((name) => !TOOLS.test(name) && !isUsed(name))
    t.strictSame(unused, [], folder)
  }
})

t.test('every package that a test or a script imports is declared', async (t) => {
  // The corpus has pages of other packages, and the tests of the architecture have imports, both as text.
  const files = ['', ...folders].flatMap(filesOf).filter((file) => !/^test\/(gallery\/corpus\/|unit\/architecture)/.test(file))
  const libraries = files.flatMap((file) => toSource(file, readText(file)).imports.map(({ library }) => ({ file, library })))
  const missing = libraries.filter(
    ({ library }) => library !== undefined && !library.startsWith('node:') && !allDeclared.has(library) && !isOwn(library),
  )
  t.ok(files.length > 500, `${files.length} files`)
  t.strictSame(
    missing.map(({ file, library }) => `${file} imports ${library}`),
    [],
  )
})
