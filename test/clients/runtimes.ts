/** Other programs that run JavaScript, for tests of the packed client. npm installs them once, with the versions of the lock file. */
import { createHash } from 'node:crypto'
import { copyFile, readFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../cluster/host/exec.ts'
import { installOnce } from '../cluster/host/fill-once.ts'
import { cache } from '../cluster/host/state.ts'
import { StepError } from '../cluster/host/steps.ts'

const lists = path.join(import.meta.dirname, 'runtimes')

/** Commands that run a module, by the name of the program. */
export type Runtimes = Record<'Node.js 20' | 'Deno' | 'Bun', readonly [string, ...string[]]>

/** Installs the programs unless they are there. The oldest Node.js is the one that `engines` of the client names. */
export async function ensureRuntimes(): Promise<Runtimes> {
  const digest = createHash('sha256')
    .update(await readFile(path.join(lists, 'package-lock.json')))
    .digest('hex')
    .slice(0, 12)
  const directory = path.join(cache, 'runtimes', digest)
  await installOnce(directory, async () => {
    for (const file of ['package.json', 'package-lock.json']) await copyFile(path.join(lists, file), path.join(directory, file))
    try {
      await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { directory })
    } catch (cause) {
      throw new StepError('Deno and Bun could not be installed', { remedy: 'see that the npm registry is reachable: npm ping', cause })
    }
  })
  const [modules, isArm] = [path.join(directory, 'node_modules'), process.arch === 'arm64']
  return {
    'Node.js 20': [path.join(modules, `node-linux-${process.arch}/bin/node`)],
    Deno: [path.join(modules, `@deno/linux-${process.arch}-glibc/deno`), 'run', '--allow-net', '--allow-env', '--no-lock', '--no-remote'],
    // Bun's own command needs an install script.
    Bun: [path.join(modules, `@oven/bun-linux-${isArm ? 'aarch64' : 'x64'}/bin/bun`)],
  }
}
