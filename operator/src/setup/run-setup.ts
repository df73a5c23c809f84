import { applyDefinitions } from './apply-crds.ts'
import { setupStorage } from './setup-storage.ts'

// Two chores of the chart's Jobs that the operator's image does when it is started with an argument; they share its libraries and nothing else.

/**
 * Runs `setup-storage` or `apply-crds <directory>` to its end.
 * @throws with what is wrong; the Job begins again
 */
export async function runSetup(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const [directory] = args
  if (command === 'setup-storage') return setupStorage(env)
  if (command === 'apply-crds' && directory !== undefined) return applyDefinitions(directory, env)
  throw new Error(`unknown command: ${[command, ...args].join(' ')}; there are setup-storage and apply-crds <directory>`)
}
