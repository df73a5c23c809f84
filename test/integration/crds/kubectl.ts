import { join } from 'node:path'
import { CommandError, run } from '../../cluster/host/exec.ts'

export interface Answer {
  /** False when kubectl ended with an error. */
  isOk: boolean
  /** All that it printed. */
  output: string
}

/** kubectl as a person would call it. It never throws: a refusal is an answer. */
export function kubectlOf({ programs, kubeconfigPath }: { programs: string; kubeconfigPath: string }) {
  return async (args: readonly string[], input?: object): Promise<Answer> => {
    const all = ['--kubeconfig', kubeconfigPath, ...args]
    try {
      const output = await run(join(programs, 'kubectl'), all, input === undefined ? {} : { input: JSON.stringify(input) })
      return { isOk: true, output }
    } catch (error) {
      if (error instanceof CommandError) return { isOk: false, output: error.output }
      throw error
    }
  }
}
