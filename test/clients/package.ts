/** Packs the TypeScript client as npm would publish it, and installs the package into an empty project. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type RunOptions, run } from '../cluster/host/exec.ts'
import { repository } from '../cluster/host/state.ts'

/** Runs a program as outside of tests: tap loads modules into every Node.js that it starts, and the compiler does not work with them. */
export const runPlainly = (program: string, args: readonly string[], options: RunOptions = {}): Promise<string> =>
  run('env', ['-u', 'NODE_OPTIONS', program, ...args], options)

export interface InstalledClient {
  /** An empty project outside the repository, so that only the package is found. */
  directory: string
  /** Paths in the package. */
  files: string[]
  /** Loads the installed package. */
  load: () => Promise<typeof import('../../api-gateway/client/src/index.ts')>
  remove: () => Promise<void>
}

/** Packs and installs the client. */
export async function installClient(): Promise<InstalledClient> {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-client-'))
  const source = path.join(repository, 'api-gateway/client')
  const packed = JSON.parse(
    await runPlainly('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', directory], {
      directory: source,
    }),
  )
  const [{ filename, files }] = packed as [{ filename: string; files: { path: string }[] }]
  await writeFile(path.join(directory, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  await runPlainly('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', path.join(directory, filename)], {
    directory,
  })
  const installed = path.join(directory, 'node_modules/@tintype/client')
  return {
    directory,
    files: files.map((file) => file.path),
    load: () => import(pathToFileURL(path.join(installed, 'dist/index.js')).href),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

const compilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2023', 'dom'],
  types: [],
  skipLibCheck: false,
}

/** Compiles modules of the project strictly with TypeScript 5. Without `node` they have only the types of browsers. */
export async function compileAgainst({ directory }: InstalledClient, files: readonly string[], { node = false } = {}): Promise<void> {
  const types = node ? { types: ['node'], typeRoots: [path.join(repository, 'node_modules/@types')], skipLibCheck: true } : {}
  await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...types }, files }))
  await runPlainly(path.join(repository, 'test/clients/node_modules/.bin/tsc'), ['-p', directory])
}

/** Names and scopes of the installed packages. */
export const installedPackages = async ({ directory }: InstalledClient): Promise<string[]> => {
  const names = await readdir(path.join(directory, 'node_modules'))
  return names.filter((name) => !name.startsWith('.'))
}
