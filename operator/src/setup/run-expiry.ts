import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { loadDriver } from '../stores/driver.ts'
import { expiryDaysOf, storeSettings } from './store-settings.ts'

const ROUND_MILLISECONDS = 3_600_000

/** Deletes expired files below `directory` (the data of a store without lifecycle rules) once an hour, until SIGTERM. */
export async function runExpiry(directory: string, env: NodeJS.ProcessEnv): Promise<void> {
  const read = z.object(storeSettings).parse(env)
  const { expireFiles } = await loadDriver(read.TINTYPE_STORAGE_KIND)
  if (!expireFiles) throw new Error(`${read.TINTYPE_STORAGE_KIND} deletes expired files itself`)
  const days = expiryDaysOf(read)
  const stopping = new AbortController()
  process.once('SIGTERM', () => stopping.abort())
  while (!stopping.signal.aborted) {
    const result = await expireFiles(path.join(directory, read.TINTYPE_STORAGE_BUCKET), days, new Date())
    process.stdout.write(`${JSON.stringify({ msg: 'expired files deleted', ...result })}\n`)
    await sleep(ROUND_MILLISECONDS, undefined, { signal: stopping.signal }).catch(() => {})
  }
}
