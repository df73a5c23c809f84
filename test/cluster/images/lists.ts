/** Builds the filter lists once for each state of their sources. Images, tests and benchmarks take them from the cache. */
import { createHash } from 'node:crypto'
import { cp, readFile } from 'node:fs/promises'
import path from 'node:path'
import { buildLists } from '../../../capture-runner/lists/build.ts'
import { fillOnce } from '../host/fill-once.ts'
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
  await fillOnce(directory, buildLists)
  return directory
}

/** Copies the lists into the build context of an image. */
export const placeLists = async (dist: string): Promise<void> => cp(await ensureLists(), dist, { recursive: true })
