import path from 'node:path'
import { run } from '../cluster/exec.ts'
import { locatePrograms } from '../cluster/programs.ts'
import { repository } from '../cluster/state.ts'

/** Directory of the chart. */
export const chartDirectory = path.join(repository, 'charts/tintype')

/** The Kubernetes that charts are rendered for when no cluster is asked. */
export const KUBERNETES_VERSION = '1.34.4'

/** Runs helm, the one that the cluster's tests build. @throws CommandError with what it printed */
export async function helm(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const { kubernetes } = await locatePrograms()
  return run(path.join(kubernetes, 'helm'), args, { environment })
}
