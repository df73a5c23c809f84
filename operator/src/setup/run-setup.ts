import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { newKeyText } from '@tintype/crds/crypto/api-keys'
import { z } from 'zod'
import { loadDriver } from '../stores/driver.ts'
import { expiryDaysOf, removeStorageUser, setupStorage, storeSettings } from './setup-storage.ts'

// Commands of the operator's image. Three are for pods of the chart, and two are for administrators: to create API keys and to delete a
// leaked key of the store. They share the image's libraries with the operator, but no state.

/**
 * Runs `setup-storage`, `remove-storage-user <access-key>`, `apply-crds <directory>`, `expire-files <directory>` or `new-key`.
 * @throws with the reason of the failure; the Job retries
 */
export async function runSetup(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [argument] = args
  if (command === 'setup-storage') return setupStorage(env)
  if (command === 'remove-storage-user' && argument !== undefined) return removeStorageUser(argument, env)
  if (command === 'apply-crds' && argument !== undefined) return (await import('./apply-crds.ts')).applyDefinitions(argument, env)
  if (command === 'expire-files' && argument !== undefined) return runExpiry(argument, env)
  // Keys contain a checksum, so they must be generated.
  if (command === 'new-key') return void process.stdout.write(`${newKeyText()}\n`)
  const known = 'setup-storage, apply-crds <directory>, expire-files <directory>, remove-storage-user <access-key> and new-key'
  throw new Error(`unknown command: ${[command, ...args].join(' ')}. Use ${known}`)
}

const ROUND_MILLISECONDS = 3_600_000

/** Deletes expired files below `directory` (the data of a store without lifecycle rules) once an hour, until SIGTERM. */
async function runExpiry(directory: string, env: NodeJS.ProcessEnv): Promise<void> {
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
