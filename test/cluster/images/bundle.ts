/**
 * Builds the files of an image. esbuild bundles the program into one or a few files. Packages that cannot be bundled (native code, files read at
 * run time) are copied as node_modules. The licenses of both are collected.
 */
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire, isBuiltin } from 'node:module'
import path from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { buildConsole } from '../../../api-gateway/console/build.ts'
import { analyzePageModule } from '../../../capture-runner/page/bundle.ts'
import { repository } from '../host/state.ts'
import { findForeignPackage, hostPlatform, isForPlatform, type Platform } from './platforms.ts'

/** An npm package whose code is in an image. */
export interface BundledPackage {
  name: string
  version: string
  /** SPDX expression of its package.json, if it has one. */
  license: string | undefined
}

interface PackageManifest {
  name: string
  version: string
  license?: string
  cpu?: string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/**
 * Packages with native code, or that read files from their own directory. `playwright` is bundled: its entry only re-exports playwright-core,
 * and its other 5 MB are a test runner.
 */
export const unbundled = ['playwright-core', 'sharp']

/** Files and directories of packages that a program serves unchanged. The rest of the package is not needed. */
export const served: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'api-gateway': { 'swagger-ui-dist': ['package.json', 'swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt'] },
  'capture-runner': {
    'pdfjs-dist': [
      ...['package.json', 'build/pdf.min.mjs', 'build/pdf.worker.min.mjs', 'cmaps', 'standard_fonts', 'iccs'],
      ...['jbig2.wasm', 'openjpeg.wasm', 'qcms_bg.wasm'].map((name) => `wasm/${name}`),
      ...['JBIG2', 'OPENJPEG', 'PDFJS_JBIG2', 'PDFJS_OPENJPEG', 'PDFJS_QCMS', 'QCMS'].map((name) => `wasm/LICENSE_${name}`),
    ],
  },
}

/** npm installs a second copy in a workspace when the root has another version. Two copies in a program would cost 6 MiB of memory. */
const once = { undici: path.dirname(createRequire(path.join(repository, 'crds/package.json')).resolve('undici/package.json')) }

/**
 * zod has error messages in fifty languages: a third of a megabyte of text and 5 MiB of memory. Only English is needed. client-node as a whole is
 * larger than all programs, and only loaded on demand to read a kubeconfig. Pods have none.
 */
const leaveOut: Plugin = {
  name: 'leave-out',
  setup: ({ onLoad, onResolve }) => {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: "export { default as en } from './en.js'" }))
    onResolve({ filter: /^@kubernetes\/client-node$/ }, ({ kind, path }) => (kind === 'dynamic-import' ? { path, external: true } : null))
  },
}

/** Defines the variables that CommonJS packages expect, inside an ES module. */
const banner = [
  "import { createRequire as __createRequire } from 'node:module'",
  'const require = __createRequire(import.meta.url)',
  'const __filename = import.meta.filename',
  'const __dirname = import.meta.dirname',
].join('\n')

/**
 * Fills `dist` (`<program>/dist/`) with `app/` (main.mjs, its chunks and notices; in the gateway also the web console) and `node_modules/`.
 * Resolves to the npm packages in it. For another platform, its native packages must be in the cache: see platforms.ts.
 */
export async function bundleProgram(
  program: string,
  dist = path.join(repository, program, 'dist'),
  platform: Platform = hostPlatform,
): Promise<BundledPackage[]> {
  const directory = path.join(repository, program)
  await rm(dist, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints: [path.join(directory, 'src/main.ts')],
    outdir: path.join(dist, 'app'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true, // modules that are loaded on demand stay separate files, because unused code would still take memory
    platform: 'node',
    format: 'esm',
    target: 'node26',
    external: unbundled,
    alias: once,
    plugins: [leaveOut],
    banner: { js: banner },
    metafile: true,
    legalComments: 'none', // the complete license texts are in separate files
    logLevel: 'silent',
  })
  const used = [
    metafile,
    ...(program === 'api-gateway' ? [await buildConsole(path.join(dist, 'app/console'))] : []),
    // Their sources are in a generated file, so the bundle does not show their packages.
    ...(program === 'capture-runner' ? [await analyzePageModule('large', repository)] : []),
  ]
  const packages = path.join(dist, 'node_modules')
  const copied = await copyPackages(externalsOf(metafile), directory, packages, platform)
  copied.push(...(await copyServed(served[program] ?? {}, directory, packages)))
  const directories = [...new Set([...used.flatMap(packagesOf), ...copied])].sort()
  await writeFile(path.join(dist, 'app/THIRD_PARTY_NOTICES'), await collectNotices(directories))
  return Promise.all(directories.map(describePackage))
}

async function describePackage(relativeDirectory: string): Promise<BundledPackage> {
  const { name, version, license } = await readManifest(path.join(repository, relativeDirectory))
  return { name, version, license }
}

const readManifest = async (directory: string): Promise<PackageManifest> =>
  JSON.parse(await readFile(path.join(directory, 'package.json'), 'utf8')) as PackageManifest

/** Names of the packages that a bundle resolves at run time. */
function externalsOf(metafile: Metafile): string[] {
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports)
  const names = imports.filter((entry) => entry.external && !isBuiltin(entry.path)).map((entry) => packageNameOf(entry.path))
  return [...new Set(names)].filter((name) => unbundled.includes(name)).sort()
}

/** Directories of the packages whose files went into a bundle, as paths in the repository. */
function packagesOf(metafile: Metafile): string[] {
  const directories = Object.keys(metafile.inputs).flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [])
  return [...new Set(directories)].sort()
}

/** `@img/sharp-linux-x64/lib` → `@img/sharp-linux-x64`. */
function packageNameOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Copies packages and all their dependencies. Resolves to their source directories. */
async function copyPackages(names: readonly string[], from: string, to: string, platform: Platform): Promise<string[]> {
  await mkdir(to, { recursive: true })
  const found = new Map<string, string>()
  await findPackages(names, from, found, platform)
  for (const [name, directory] of found) await cp(directory, path.join(to, name), { recursive: true, dereference: true })
  return [...found.values()].map((directory) => path.relative(repository, directory))
}

/** Copies single files and directories of packages. Resolves to the packages' source directories. */
async function copyServed(files: Readonly<Record<string, readonly string[]>>, from: string, to: string): Promise<string[]> {
  const directories: string[] = []
  for (const [name, names] of Object.entries(files)) {
    const directory = findPackage(name, from)
    if (!directory) throw new Error(`the package ${name} is not installed`)
    await mkdir(path.join(to, name), { recursive: true })
    for (const file of names) await cp(path.join(directory, file), path.join(to, name, file), { recursive: true })
    directories.push(path.relative(repository, directory))
  }
  return directories
}

/** Finds dependencies as Node does, in the nearest node_modules above, and native packages of another platform in the cache. */
async function findPackages(names: readonly string[], from: string, found: Map<string, string>, platform: Platform): Promise<void> {
  for (const name of names) {
    if (found.has(name)) continue
    const directory = findPackage(name, from) ?? (await findForeignPackage(name, platform))
    if (!directory) continue
    const manifest = await readManifest(directory)
    if (!isForPlatform(manifest, platform)) continue
    found.set(name, directory)
    await findPackages(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }), directory, found, platform)
  }
}

function findPackage(name: string, from: string): string | undefined {
  for (let directory = from; directory.startsWith(repository); directory = path.dirname(directory)) {
    const candidate = path.join(directory, 'node_modules', name)
    if (existsSync(path.join(candidate, 'package.json'))) return candidate
  }
  return undefined
}

async function collectNotices(directories: readonly string[]): Promise<string> {
  const notices = await Promise.all(directories.map(buildNotice))
  return `This image contains the following packages, each under its own license.\n\n${notices.join('\n')}`
}

async function buildNotice(relativeDirectory: string): Promise<string> {
  const directory = path.join(repository, relativeDirectory)
  const manifest = await readManifest(directory)
  const files = (await readdir(directory)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort()
  const texts = await Promise.all(files.map((file) => readFile(path.join(directory, file), 'utf8')))
  return [`${'='.repeat(80)}\n${manifest.name} ${manifest.version} (${manifest.license ?? 'see below'})\n`, ...texts].join('\n')
}
