import { newKeyText } from '@tintype/crds/crypto/key-text'
import { applyDefinitions } from './apply-crds.ts'
import { removeStorageUser, setupStorage } from './setup-storage.ts'

// Chores that the operator's image does when it is started with an argument: two of the chart's Jobs, and two that people call: for keys of
// their own, and for a leaked key of the store. They share its libraries and nothing else.

/**
 * Runs `setup-storage`, `remove-storage-user <access-key>`, `apply-crds <directory>` or `new-key` to its end.
 * @throws with what is wrong; the Job begins again
 */
export async function runSetup(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [argument] = args
  if (command === 'setup-storage') return setupStorage(env)
  if (command === 'remove-storage-user' && argument !== undefined) return removeStorageUser(argument, env)
  if (command === 'apply-crds' && argument !== undefined) return applyDefinitions(argument, env)
  // The text has a checksum: it cannot be made up by hand.
  if (command === 'new-key') return void process.stdout.write(`${newKeyText()}\n`)
  const known = 'setup-storage, apply-crds <directory>, remove-storage-user <access-key> and new-key'
  throw new Error(`unknown command: ${[command, ...args].join(' ')}; there are ${known}`)
}
