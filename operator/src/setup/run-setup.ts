import { newKeyText } from '@tintype/crds/crypto/api-keys'
import { runExpiry } from './run-expiry.ts'
import { removeStorageUser, setupStorage } from './setup-storage.ts'

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
