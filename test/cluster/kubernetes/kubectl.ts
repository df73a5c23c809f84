/** Runs kubectl and helm on the embedded cluster, or on the current context of the user's kubeconfig. */
import path from 'node:path'
import { type RunOptions, run } from '../host/exec.ts'
import { choices, paths } from '../host/state.ts'
import { locatePrograms } from '../programs/programs.ts'

/** Runs kubectl. @throws CommandError with what it printed. */
export async function kubectl(args: readonly string[], options: RunOptions = {}): Promise<string> {
  return runProgram('kubectl', args, options)
}

/** Runs helm. @throws CommandError with what it printed. */
export async function helm(args: readonly string[], options: RunOptions = {}): Promise<string> {
  return runProgram('helm', args, options)
}

/** Applies objects with server-side apply, so that a repetition changes nothing. */
export function apply(manifest: string): Promise<string> {
  return kubectl(['apply', '--server-side', '--force-conflicts', '--field-manager=tintype-cluster', '-f', '-'], { input: manifest })
}

async function runProgram(name: string, args: readonly string[], options: RunOptions): Promise<string> {
  if (choices.cluster === 'current') return run(name, args, options)
  const { kubernetes } = await locatePrograms()
  return run(path.join(kubernetes, name), args, { ...options, environment: { ...options.environment, KUBECONFIG: paths.kubeconfig } })
}
