import { newKeyText } from '@tintype/crds/key-text'
import { applyDefinitions } from './apply-crds.ts'
import { setupStorage } from './setup-storage.ts'

// Chores that the operator's image does when it is started with an argument: two of the chart's Jobs, and one for people who bring their own
// keys. They share its libraries and nothing else.

/**
 * Runs `setup-storage`, `apply-crds <directory>` or `new-key` to its end.
 * @throws with what is wrong; the Job begins again
 */
export async function runSetup(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [directory] = args
  if (command === 'setup-storage') return setupStorage(env)
  if (command === 'apply-crds' && directory !== undefined) return applyDefinitions(directory, env)
  // The text has a checksum: it cannot be made up by hand.
  if (command === 'new-key') return void process.stdout.write(`${newKeyText()}\n`)
  throw new Error(`unknown command: ${[command, ...args].join(' ')}; there are setup-storage, apply-crds <directory> and new-key`)
}
