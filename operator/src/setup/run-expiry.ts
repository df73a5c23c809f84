import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { longestRetention, PlansText } from '@tintype/crds/usage/plans'
import { z } from 'zod'
import { loadDriver, StoreName } from '../stores/driver.ts'
import { expiryDays } from '../stores/expiry-days.ts'

const ROUND_MILLISECONDS = 3_600_000

const Environment = z.object({
  TINTYPE_STORAGE_KIND: StoreName,
  TINTYPE_STORAGE_BUCKET: z.string().min(3).max(63),
  TINTYPE_RETENTION_RECORD_DAYS: z.coerce.number().int().positive().default(400),
  TINTYPE_PLANS: PlansText,
})

/** Deletes expired files below `directory` (the data of a store without lifecycle rules) once an hour, until SIGTERM. */
export async function runExpiry(directory: string, env: NodeJS.ProcessEnv): Promise<void> {
  const read = Environment.parse(env)
  const { expireFiles } = await loadDriver(read.TINTYPE_STORAGE_KIND)
  if (!expireFiles) throw new Error(`${read.TINTYPE_STORAGE_KIND} deletes expired files itself`)
  const days = expiryDays({ fileDays: longestRetention(read.TINTYPE_PLANS), recordDays: read.TINTYPE_RETENTION_RECORD_DAYS })
  const stopping = new AbortController()
  process.once('SIGTERM', () => stopping.abort())
  while (!stopping.signal.aborted) {
    const result = await expireFiles(path.join(directory, read.TINTYPE_STORAGE_BUCKET), days, new Date())
    process.stdout.write(`${JSON.stringify({ msg: 'expired files deleted', ...result })}\n`)
    await sleep(ROUND_MILLISECONDS, undefined, { signal: stopping.signal }).catch(() => {})
  }
}
