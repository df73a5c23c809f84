import { opendir, rmdir, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import type { ExpiryDays, ExpiryResult } from '../driver.ts'

// Deletes expired objects of the bundled versitygw, which has no lifecycle rules. It keeps each object as one file, with its metadata in attributes
// of that file. So this runs beside the store and deletes old files from its volume.

const DAY_MILLISECONDS = 86_400_000
/** Folder of versitygw for unfinished uploads. */
const UNFINISHED = { '.sgwtmp': 1 } as const

/**
 * Deletes the files of a bucket's folders that are older than the days of their folder, and directories that were empty for a day.
 * @param days by folder, as `expiryDays` returns them
 */
export async function expireFiles(bucket: string, days: ExpiryDays, now: Date): Promise<ExpiryResult> {
  const result = { files: 0, directories: 0 }
  for (const [folder, count] of Object.entries({ ...days, ...UNFINISHED })) {
    const limits = { files: now.getTime() - count * DAY_MILLISECONDS, directories: now.getTime() - DAY_MILLISECONDS }
    await expireFolder(path.join(bucket, folder), limits, result)
  }
  return result
}

async function expireFolder(directory: string, limits: ExpiryResult, result: ExpiryResult): Promise<void> {
  const entries = await unlessAbsent(() => opendir(directory))
  if (!entries) return
  for await (const entry of entries) {
    const file = path.join(directory, entry.name)
    // Before the files in it, because each deletion makes the directory younger.
    const found = await unlessAbsent(() => stat(file))
    if (!found) continue
    if (entry.isDirectory()) {
      await expireFolder(file, limits, result)
      if (found.mtimeMs < limits.directories && (await unlessAbsent(() => rmdir(file).then(() => true)))) result.directories += 1
    } else if (found.mtimeMs < limits.files && (await unlessAbsent(() => unlink(file).then(() => true)))) {
      result.files += 1
    }
  }
}

/** Undefined if the store or a client was faster, or if a directory has entries. */
async function unlessAbsent<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
