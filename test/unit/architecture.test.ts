import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import t from 'tap'
import { folders } from '../../crds/src/records/folders.ts'
import { assertEvery } from '../support/accepts.ts'
import { type Import, readSources, type SourceFile, toSource, withoutImports } from '../support/sources/source-files.ts'

// The direction of dependencies: main → shell → core → crds. Every import of every file is an arrow; each must be in a table below.

const sources = readSources()
const byFile = new Map(sources.map((source) => [source.file, source]))

/** Which files a file may import, by its folder. */
const arrows: { from: RegExp; to: RegExp }[] = [
  { from: /^crds\/src\//, to: /^crds\/src\// },
  { from: /^crds\/generate\//, to: /^crds\/(generate|src)\// },
  { from: /^crds\/storage\//, to: /^crds\/(storage|src)\// },
  { from: /^crds\/client\//, to: /^crds\/(client|src)\// },
  { from: /^operator\/src\/controller-runtime\//, to: /^(operator\/src\/controller-runtime|crds\/(client|src\/runtime))\// },
  // Only main.ts and other controllers import a controller.
  { from: /^operator\/src\/(?!controllers\/)[a-z-]+\//, to: /^(operator\/src\/(?!controllers\/)|crds\/)/ },
  { from: /^operator\/src\//, to: /^(operator\/(src\/|package\.json$)|crds\/)/ },
  { from: /^api-gateway\/src\//, to: /^(api-gateway\/(src\/|package\.json$)|crds\/)/ },
  { from: /^api-gateway\/client\/src\//, to: /^api-gateway\/client\/src\// },
  // The command line client and the console show the same characters of texts of strangers, and say the same to people about errors.
  {
    from: /^api-gateway\/cli\/src\//,
    to: /^(api-gateway\/(cli\/src\/|client\/src\/(index|common\/people-remedies)\.ts$)|crds\/src\/text\/visible\.ts$)/,
  },
  // The console reads the catalog of options and the code of cron expressions. It signs links and says what to do about errors with the code of the client.
  {
    from: /^api-gateway\/console\/src\//,
    to: /^(api-gateway\/console\/src\/|api-gateway\/client\/src\/(generated\/api|link\/sign|common\/(errors|people-remedies))\.ts$|crds\/src\/((options|schedule|text)\/|schema\/(event-types|issue-messages|merge-patch)\.ts$))/,
  },
  // Code that runs in pages: see docs/adr/0067-page-functions-are-typescript.md.
  { from: /^capture-runner\/page\/src\//, to: /^capture-runner\/(page\/src\/|src\/page\/functions\.ts$)/ },
  { from: /^capture-runner\/src\//, to: /^(capture-runner\/(src\/|package\.json$)|crds\/)/ },
]

/** Which files may load a library, where not every program may that names it in its package.json. */
const keepers: Record<string, RegExp> = {
  '@kubernetes/client-node': /^(crds\/client|operator\/src\/setup)\//,
  minio: /^(crds\/storage\/s3|operator\/src\/stores)\//,
  'ipaddr.js': /^crds\/src\/addresses\/address-rules\.ts$/,
  yaml: /^crds\/generate\/main\.ts$/,
}

/** Files that decide and compute: what they load, and all that that loads, must be pure. */
const core = [
  /^crds\/src\//,
  /^operator\/src\/(?:[a-z-]+\/)+decide\.ts$/,
  /^operator\/src\/controllers\/delivery\/(events\/receivers|http\/headers)\.ts$/,
  /^operator\/src\/(scheduling\/(fair-queue|growth|size|crash-budget)|runner\/(pod|pod-state|expectations))\.ts$/,
  /^api-gateway\/src\/creation\/(plan|queue-rules)\.ts$/,
  /^api-gateway\/src\/http\//,
  /^api-gateway\/src\/resources\/(?:[a-z-]+\/)+(?!handlers|routes|kube-|downloads|owned-records|probe|send-file|create\.)[a-z-]+\.ts$/,
  /^api-gateway\/client\/src\/link\/canonical\.ts$/,
  /^capture-runner\/src\/plan\//,
]

/** Libraries whose values pure code may use: schemas, hashes, addresses, bounded maps. Without a TTL, lru-cache reads no clock. */
const PURE_LIBRARIES = new Set(['zod', 'node:crypto', 'node:zlib', 'ipaddr.js', 'jose', 'lru-cache'])

/** What pure code cannot know: the time, chance, the environment, the world. */
const IMPURE = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bprocess\.\w|\bfetch\(|\bperformance\.|\bset(?:Timeout|Interval|Immediate)\(/

/** The only readers of the environment besides main.ts: they hand it on to a process of their own. */
const ENVIRONMENT_READERS = [/\/src\/main\.ts$/, /^capture-runner\/src\/(browser\/browser|jail\/[a-z-]+)\.ts$/]

const folderOf = (file: string): string => posix.dirname(file)
const readText = (file: string): string => readFileSync(join(import.meta.dirname, '../..', file), 'utf8')
const pathsOf = (files: readonly SourceFile[]): string[] => files.map(({ file }) => file)
const isCore = (file: string): boolean => core.some((pattern) => pattern.test(file))
const valuesOf = ({ imports }: SourceFile): Import[] => imports.filter(({ isType }) => !isType)

/** The files that this one imports and that they import, by their paths. By default without types: what loading the file loads. */
function closureOf(file: string, importsOf = valuesOf, seen = new Set<string>()): Set<string> {
  const source = byFile.get(file)
  if (!source || seen.has(file)) return seen
  seen.add(file)
  for (const { file: next } of importsOf(source)) if (next) closureOf(next, importsOf, seen)
  return seen
}

t.test('architecture has every import of a file of ours in its table of arrows', async (t) => {
  t.ok(sources.length > 100, `${sources.length} files read`)
  const stray = sources.flatMap(({ file, imports }) => {
    const arrow = arrows.find(({ from }) => from.test(file))
    if (!arrow) return [`${file} has no row`]
    const others = imports.filter((entry) => entry.file !== undefined && !arrow.to.test(entry.file))
    return others.map(({ specifier }) => `${file} imports ${specifier}`)
  })
  t.strictSame(stray, [])
})

t.test('architecture has programs reach what they share by its name, never by a path', async (t) => {
  const others = sources.filter(({ file }) => !file.startsWith('crds/'))
  assertEvery(t, others, ({ imports }) => !imports.some(({ specifier }) => /^\.\.?\/.*crds\//.test(specifier)))
})

t.test('architecture has every library in the package.json of who loads it', async (t) => {
  const manifests = new Map<string, Set<string>>()
  const missing = sources.flatMap(({ file, imports }) => {
    const workspace = workspaceOf(file)
    if (!manifests.has(workspace)) manifests.set(workspace, readDependencies(workspace))
    const wanted = imports.filter(({ library }) => library !== undefined && !library.startsWith('node:') && keepers[library] === undefined)
    return wanted.filter(({ library = '' }) => !manifests.get(workspace)?.has(library)).map(({ library }) => `${file} loads ${library}`)
  })
  t.strictSame(missing, [])
})

t.test('architecture has the libraries that have a keeper loaded by nobody else', async (t) => {
  const others = sources.flatMap(({ file, imports }) =>
    imports.filter(({ library = '' }) => keepers[library] && !keepers[library].test(file)).map(({ library }) => `${file} loads ${library}`),
  )
  t.strictSame(others, [])
})

t.test('architecture has client-node loaded late, for its types, for kubeconfigs and by the hook that applies CRDs', async (t) => {
  const hook = 'operator/src/setup/apply-crds.ts'
  const isEarly = ({ library, file, isDynamic }: Import) => !isDynamic && (library === '@kubernetes/client-node' || file === hook)
  t.strictSame(pathsOf(sources.filter((source) => valuesOf(source).some(isEarly))), [hook])
})

t.test('architecture has a core that knows neither time nor chance nor the world, whatever it loads', async (t) => {
  const entries = sources.map(({ file }) => file).filter(isCore)
  t.ok(entries.length > 50, `${entries.length} files of the core`)
  const reached = new Map(entries.flatMap((entry) => [...closureOf(entry)].map((file) => [file, entry] as const)))
  const impure = [...reached].flatMap(([file, entry]) => {
    const source = byFile.get(file)!
    const libraries = valuesOf(source).flatMap(({ library = '' }) => (library === '' || PURE_LIBRARIES.has(library) ? [] : [library]))
    return [...libraries, ...(IMPURE.exec(source.code) ?? [])].map((what) => `${file} (loaded by ${entry}) uses ${what}`)
  })
  t.strictSame(impure, [])
})

t.test('architecture has a client that runs in browsers: it loads no library and nothing of Node.js', async (t) => {
  const client = sources.filter(({ file }) => file.startsWith('api-gateway/client/src/'))
  t.ok(client.length > 10, `${client.length} files of the client`)
  const strays = client.flatMap(({ file, code, imports }) => [
    ...imports.filter(({ library }) => library !== undefined).map(({ specifier }) => `${file} loads ${specifier}`),
    ...(/\b(?:process|Buffer|Deno|Bun|window|document)\.\w/.test(code) ? [`${file} uses what not every platform has`] : []),
  ])
  t.strictSame(strays, [])
})

t.test('architecture has one reader of the environment a program', async (t) => {
  const readers = sources.filter(({ code }) => /\bprocess\.env\b/.test(code.replaceAll(/'[^'\n]*'|`[^`]*`/g, "''")))
  assertEvery(t, pathsOf(readers), (file) => ENVIRONMENT_READERS.some((pattern) => pattern.test(file)))
})

t.test('architecture has no circle of imports, those of types included', async (t) => {
  const importsOf = ({ imports }: SourceFile) => imports
  const isInCircle = (source: SourceFile) => source.imports.some(({ file }) => file && closureOf(file, importsOf).has(source.file))
  t.strictSame(pathsOf(sources.filter(isInCircle)), [])
})

t.test('architecture has one file that builds keys of the bucket', async (t) => {
  const built = new RegExp(`[\`'](?:${folders.map(({ name }) => name).join('|')})/(?:[\`']|\\$\\{)`)
  const builders = sources.filter(({ file, code }) => /^(crds|operator|api-gateway)\/(src|storage)\//.test(file) && built.test(code))
  t.strictSame(pathsOf(builders), ['crds/src/records/folders.ts', 'crds/src/records/storage-keys.ts'])
})

/** Files that are longer for now. */
const LONG = /^capture-runner\/src\/page\/functions\.ts$/

t.test('architecture has no file with more than 400 lines', async (t) => {
  const isShort = (text: string) => text.split('\n').length <= 401
  t.strictSame(['\n'.repeat(400), '\n'.repeat(401)].map(isShort), [true, false])
  const files = pathsOf(sources).filter((file) => !file.includes('/generated/') && !LONG.test(file))
  assertEvery(t, files, (file) => isShort(readText(file)))
})

t.test('architecture has no two folders that import each other', async (t) => {
  const pairs = new Map<string, string>()
  for (const { file, imports } of sources) {
    const targets = imports.map((entry) => entry.file).filter((target) => target !== undefined && byFile.has(target))
    for (const target of targets as string[]) pairs.set(`${folderOf(file)} > ${folderOf(target)}`, `${file} imports ${target}`)
  }
  assertEvery(t, [...pairs], ([pair]) => {
    const [from, to] = pair.split(' > ')
    return from === to || !pairs.has(`${to} > ${from}`)
  })
})

/** Names of a page's world, and strings that begin with a function. The runner's own code has neither. */
const PAGE_CODE =
  /(?<![.\w'])(?:document|location|navigator)\.[a-z]\w*|\bglobalThis\.\w+|(?<!DOM\.)\b(?:querySelector|getComputedStyle|innerText|localStorage\.)\w*|['"`](?:void )?\([\w\s,{}[\].(]*\) =>/g
/** Starts Autoconsent, a script of another project, with the messages between it and the runner. */
const AUTOCONSENT = 'capture-runner/src/blocking/consent-frames.ts'

t.test('architecture has no code of pages in strings of the runner', async (t) => {
  const files = sources.filter(({ file }) => /^capture-runner\/src\/(?!page\/generated\/)/.test(file) && file !== AUTOCONSENT)
  t.ok(files.length > 100, `${files.length} files of the runner`)
  const strays = files.flatMap((source) => (withoutImports(source).match(PAGE_CODE) ?? []).map((code) => `${source.file}: ${code}`))
  t.strictSame(strays, [])
  // A tab evaluates only calls of page functions.
  const evaluators = files.filter(({ code }) => /\btab\.evaluate\b(?!(?:<[^(]*>)?\((?:toCall|await toLargeCall)\()/.test(code))
  t.strictSame(pathsOf(evaluators), [])
})

t.test('architecture has nothing load a program’s main', async (t) => {
  const loaders = sources.filter(({ imports }) => imports.some(({ file }) => file?.endsWith('/src/main.ts')))
  t.strictSame(pathsOf(loaders), [])
})

t.test('architecture has no comment that leans on a paper which this repository does not hold', async (t) => {
  const leaning = sources.filter(({ file }) => /\b(?:contract|decision) \d/.test(readText(file)))
  t.strictSame(pathsOf(leaning), [])
})

t.test('toSource tells values from types, and what is written from what is commented', async (t) => {
  const text = [
    "import a, { b } from './a.ts'",
    "import type { C } from './c.ts'",
    "import { type D } from 'd'",
    "import {\n  e,\n  type F,\n} from '@scope/e/deep'",
    "import 'node:side-effect'",
    "export { g } from '@tintype/crds/identifiers/ids'",
    "const { h } = await import('late')",
    "// import x from 'comment'",
    "/** {@link import('./doc.ts').X} */",
  ].join('\n')
  t.match(toSource('operator/src/x/y.ts', text).imports, [
    { file: 'operator/src/x/a.ts', isType: false },
    { file: 'operator/src/x/c.ts', isType: true },
    { library: 'd', isType: true },
    { library: '@scope/e', isType: false },
    { library: 'node:side-effect', isType: false },
    { file: 'crds/src/identifiers/ids.ts', isType: false },
    { library: 'late', isType: false, isDynamic: true },
  ])
  t.equal(toSource('operator/src/x/y.ts', text).imports.length, 7)
})

/** The folder of the package.json that a file belongs to. */
function workspaceOf(file: string): string {
  return /^api-gateway\/(?:client|cli|console)(?=\/)/.exec(file)?.[0] ?? file.split('/')[0] ?? ''
}

function readDependencies(workspace: string): Set<string> {
  const manifest = JSON.parse(readText(`${workspace}/package.json`))
  return new Set(Object.keys(manifest.dependencies ?? {}))
}
