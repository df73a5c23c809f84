import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Folders in which fontconfig finds fonts. */
const FOLDERS = ['/usr/share/fonts', '/usr/local/share/fonts']
const HASH_LENGTH = 16

let known: Promise<string> | undefined

/** A hash of the names and sizes of all font files. Other fonts draw the same page differently. */
export function hashFonts(): Promise<string> {
  known ??= hashOf(FOLDERS)
  return known
}

/** The hash for some folders; a missing one has no fonts. */
export async function hashOf(folders: readonly string[]): Promise<string> {
  const files = await Promise.all(folders.map(listFiles))
  return createHash('sha256').update(files.flat().toSorted().join('\n')).digest('hex').slice(0, HASH_LENGTH)
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => {
        const path = join(parentPath, name)
        return `${path} ${(await stat(path)).size}`
      }),
  )
}
