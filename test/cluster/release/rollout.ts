/** Waits until everything that was installed runs. Reports what is missing or will never start. */
import { Label } from '../../../crds/src/identifiers/names.ts'
import { choices, releaseNamespace, sitesNamespace } from '../host/state.ts'
import { type Report, StepError } from '../host/steps.ts'
import { waitFor } from '../host/wait.ts'
import { kubectl } from '../kubernetes/kubectl.ts'
import { ctr } from '../kubernetes/node.ts'
import { findPodProblem, isOutdated, type Pod, staleOf } from './pod-problem.ts'

const rolloutMilliseconds = 240_000

export interface Workload {
  kind: 'Deployment' | 'StatefulSet'
  metadata: { name: string; generation: number }
  spec: { replicas?: number }
  status: { observedGeneration?: number; readyReplicas?: number; updatedReplicas?: number; replicas?: number }
}

export interface Pool {
  kind: 'RunnerPool'
  metadata: { name: string; labels?: Record<string, string> }
  spec: { minIdle?: number }
  status?: { idle?: number; busy?: number }
}

/** Waits until every Deployment and StatefulSet has its pods, and every pool a runner if it keeps one. */
export async function awaitRollout(report: Report): Promise<string> {
  let missing: string[] = []
  let problem: string | undefined
  let isFinal = false
  const check = async () => {
    const items = ofRelease(await listItems())
    const pods = items.filter((item) => item.kind === 'Pod')
    missing = [...missingOf(items), ...(await findStale(pods))]
    problem = findPodProblem(pods)
    isFinal = findPodProblem(pods.filter((pod) => !isOutdated(pod))) !== undefined
    report(`waiting for ${missing.join(', ')}`)
    return missing.length === 0
  }
  try {
    await waitFor('rollout', check, {
      timeoutMilliseconds: rolloutMilliseconds,
      intervalMilliseconds: 500,
      findFailure: async () => (isFinal ? problem : undefined),
    })
    return 'all ready'
  } catch (cause) {
    const remedy = `kubectl describe pods -n ${releaseNamespace}; kubectl logs -n ${releaseNamespace} <pod>`
    throw new StepError(problem ?? `still missing: ${missing.join(', ')}`, { remedy, cause })
  }
}

/** Leaves out pools that do not belong to the release, and their pods. Their problems must not fail the rollout. */
function ofRelease(items: readonly (Workload | Pool | Pod)[]): (Workload | Pool | Pod)[] {
  const isForeign = (item: Workload | Pool | Pod): boolean =>
    item.kind === 'RunnerPool' && item.metadata.labels?.['app.kubernetes.io/managed-by'] !== 'Helm'
  const foreign = new Set(items.filter(isForeign).map(({ metadata }) => metadata.name))
  return items.filter((item) => {
    if (item.kind === 'RunnerPool') return !foreign.has(item.metadata.name)
    return item.kind !== 'Pod' || !foreign.has(item.metadata.labels?.[Label.pool] ?? '')
  })
}

/** `operator 1/2` for each workload that is not complete, and an entry for each pool that keeps runners and has none. */
export function missingOf(items: readonly (Workload | Pool | Pod)[]): string[] {
  return items.flatMap((item) => {
    if (item.kind === 'Pod') return []
    if (item.kind === 'RunnerPool') return item.spec.minIdle === 0 || hasRunner(item) ? [] : [`a warm runner of pool ${item.metadata.name}`]
    const { metadata, spec, status } = item
    const wanted = spec.replicas ?? 1
    const ready = Math.min(status.readyReplicas ?? 0, status.updatedReplicas ?? 0)
    const isCurrent = (status.observedGeneration ?? 0) >= metadata.generation && (status.replicas ?? 0) <= wanted
    return isCurrent && ready >= wanted ? [] : [`${metadata.name} ${ready}/${wanted}`]
  })
}

const hasRunner = ({ status }: Pool): boolean => (status?.idle ?? 0) + (status?.busy ?? 0) > 0

async function listItems(): Promise<(Workload | Pool | Pod)[]> {
  const list = async (namespace: string, kinds: string) => {
    const text = await kubectl(['get', kinds, '-n', namespace, '-o', 'json'])
    return (JSON.parse(text) as { items: (Workload | Pool | Pod)[] }).items
  }
  const lists = [list(releaseNamespace, 'deployments,statefulsets,pods,runnerpools'), list(sitesNamespace, 'deployments,statefulsets,pods')]
  return (await Promise.all(lists)).flat()
}

/** After a restart of the node the API server briefly reports containers that no longer exist. */
async function findStale(pods: readonly Pod[]): Promise<string[]> {
  if (choices.cluster === 'current') return []
  return staleOf(pods, new Set((await ctr(['tasks', 'list', '-q'])).split('\n')))
}
