import { opendir, rmdir, stat, unlink } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { longestRetention, PlansText } from '@tintype/crds/usage/plans'
import { z } from 'zod'
import { expiryDays } from './lifecycle.ts'

// Deletes expired objects of the bundled versitygw, which has no lifecycle rules. It keeps each object as one file, with its metadata in attributes
// of that file. So this runs beside the store and deletes old files from its volume.

const DAY_MILLISECONDS = 86_400_000
const ROUND_MILLISECONDS = 3_600_000
/** Folder of versitygw for unfinished uploads. */
const UNFINISHED = { '.sgwtmp': 1 } as const

const Environment = z.object({
  TINTYPE_STORAGE_BUCKET: z.string().min(3).max(63),
  TINTYPE_RETENTION_RECORD_DAYS: z.coerce.number().int().positive().default(400),
  TINTYPE_PLANS: PlansText,
})

/** Deletes expired files below `directory` (the data of versitygw) once an hour, until SIGTERM. */
export async function runExpiry(directory: string, env: NodeJS.ProcessEnv): Promise<void> {
  const read = Environment.parse(env)
  const days = expiryDays({ fileDays: longestRetention(read.TINTYPE_PLANS), recordDays: read.TINTYPE_RETENTION_RECORD_DAYS })
  const stopping = new AbortController()
  process.once('SIGTERM', () => stopping.abort())
  while (!stopping.signal.aborted) {
    const result = await expireFiles(path.join(directory, read.TINTYPE_STORAGE_BUCKET), days, new Date())
    process.stdout.write(`${JSON.stringify({ msg: 'expired files deleted', ...result })}\n`)
    await sleep(ROUND_MILLISECONDS, undefined, { signal: stopping.signal }).catch(() => {})
  }
}

/** Counts of one round. */
export interface ExpiryResult {
  files: number
  directories: number
}

/**
 * Deletes the files of a bucket's folders that are older than the days of their folder, and directories that were empty for a day.
 * @param days by folder, as `expiryDays` returns them
 */
export async function expireFiles(bucket: string, days: Readonly<Record<string, number>>, now: Date): Promise<ExpiryResult> {
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
