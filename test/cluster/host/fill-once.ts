/** Directories of the cache that are made once, such as a compiled program. Commands that need one at the same time wait for the first. */
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { withLock } from './lock.ts'
import { cache } from './state.ts'

/** The lock of a directory is outside of its folder, because the folder lists what exists. */
const lockOf = (directory: string): string => path.join(cache, 'locks', path.relative(cache, directory).replaceAll(path.sep, '-'))

/**
 * Fills a directory unless it exists. It appears when it is complete. A draft of an interrupted run is discarded.
 * @returns whether it was filled
 */
export function fillOnce(directory: string, fill: (draft: string) => Promise<void>): Promise<boolean> {
  return once(directory, directory, async () => {
    const draft = `${directory}.partial`
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft, { recursive: true })
    await fill(draft)
    await rename(draft, directory)
  })
}

/** Like {@link fillOnce}, for programs that must stay where they were installed. The file `done` says that the directory is complete. */
export function installOnce(directory: string, install: () => Promise<void>): Promise<boolean> {
  const done = path.join(directory, 'done')
  return once(directory, done, async () => {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true })
    await install()
    await writeFile(done, '')
  })
}

async function once(directory: string, proof: string, make: () => Promise<void>): Promise<boolean> {
  if (existsSync(proof)) return false
  return withLock(lockOf(directory), async () => {
    if (existsSync(proof)) return false
    await make()
    return true
  })
}
