/** Builds the filter lists once for each state of their sources. Images, tests and benchmarks take them from the cache. */
import { createHash } from 'node:crypto'
import { access, cp, mkdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { buildLists } from '../../../capture-runner/lists/build.ts'
import { cache, repository } from '../host/state.ts'

/** Files that the lists depend on. */
const SOURCES = [
  'capture-runner/lists/build.ts',
  'capture-runner/lists/sources.ts',
  'capture-runner/lists/own/banners.txt',
  'capture-runner/lists/own/chats.txt',
  'capture-runner/lists/own/socials.txt',
  'capture-runner/package.json',
]

/** Builds the lists unless they exist. Resolves to a directory with `lists/` and `doc/`. */
export async function ensureLists(): Promise<string> {
  const texts = await Promise.all(SOURCES.map((file) => readFile(path.join(repository, file), 'utf8')))
  const digest = createHash('sha256').update(texts.join('\0')).digest('hex').slice(0, 12)
  const directory = path.join(cache, 'lists', digest)
  if (await isThere(directory)) return directory
  const draft = `${directory}.${process.pid}`
  await mkdir(draft, { recursive: true })
  try {
    await buildLists(draft)
    // Another process may have been faster.
    await rename(draft, directory).catch(async (error) => {
      if (!(await isThere(directory))) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
  return directory
}

/** Copies the lists into the build context of an image. */
export const placeLists = async (dist: string): Promise<void> => cp(await ensureLists(), dist, { recursive: true })

const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )
