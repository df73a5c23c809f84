/** Packs the clients as npm would publish them, and installs them into an empty project. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { type RunOptions, run } from '../cluster/host/exec.ts'
import { repository } from '../cluster/host/state.ts'

/** Runs a program as outside of tests: tap loads modules into every Node.js that it starts, and the compiler does not work with them. */
export const runPlainly = (program: string, args: readonly string[], options: RunOptions = {}): Promise<string> =>
  run('env', ['-u', 'NODE_OPTIONS', program, ...args], options)

/** Packs workspaces of api-gateway as npm would publish them, and installs them into an empty project outside the repository, so that only they are found. */
export async function installPackages(...workspaces: string[]) {
  const directory = await mkdtemp(path.join(tmpdir(), 'tintype-packages-'))
  const pack = async (workspace: string): Promise<{ filename: string; files: { path: string }[] }> => {
    const args = ['pack', '--json', '--loglevel=error', '--pack-destination', directory]
    return JSON.parse(await runPlainly('npm', args, { directory: path.join(repository, 'api-gateway', workspace) }))[0]
  }
  const packed = await Promise.all(workspaces.map(pack))
  await writeFile(path.join(directory, 'package.json'), JSON.stringify({ name: 'consumer', private: true, type: 'module' }))
  const tarballs = packed.map(({ filename }) => path.join(directory, filename))
  await runPlainly('npm', ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', ...tarballs], { directory })
  /** Paths in the first package. */
  const files = packed[0]?.files.map((file) => file.path) ?? []
  return { directory, files, remove: () => rm(directory, { recursive: true, force: true }) }
}

/** Packs and installs the TypeScript client. */
export async function installClient() {
  const installed = await installPackages('client')
  const module = path.join(installed.directory, 'node_modules/@tintype/client/dist/index.js')
  /** Loads the installed package. */
  const load = (): Promise<typeof import('../../api-gateway/client/src/index.ts')> => import(pathToFileURL(module).href)
  return { ...installed, load }
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
export async function compileAgainst({ directory }: { directory: string }, files: readonly string[], { node = false } = {}): Promise<void> {
  const types = node ? { types: ['node'], typeRoots: [path.join(repository, 'node_modules/@types')], skipLibCheck: true } : {}
  await writeFile(path.join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...compilerOptions, ...types }, files }))
  await runPlainly(path.join(repository, 'test/clients/node_modules/.bin/tsc'), ['-p', directory])
}

/** Names and scopes of the installed packages. */
export const installedPackages = async ({ directory }: { directory: string }): Promise<string[]> => {
  const names = await readdir(path.join(directory, 'node_modules'))
  return names.filter((name) => !name.startsWith('.'))
}
