import { join } from 'node:path'
import { CommandError, run } from '../../cluster/host/exec.ts'

export interface Answer {
  /** False if kubectl exited with an error. */
  isOk: boolean
  /** The text that kubectl printed. */
  output: string
}

/** Runs kubectl. Does not throw if kubectl fails. */
export function kubectlOf({ programs, kubeconfigPath }: { programs: string; kubeconfigPath: string }) {
  return async (args: readonly string[], input?: object | string): Promise<Answer> => {
    const all = ['--kubeconfig', kubeconfigPath, ...args]
    try {
      const output = await run(
        join(programs, 'kubectl'),
        all,
        input === undefined ? {} : { input: typeof input === 'string' ? input : JSON.stringify(input) },
      )
      return { isOk: true, output }
    } catch (error) {
      if (error instanceof CommandError) return { isOk: false, output: error.output }
      throw error
    }
  }
}
