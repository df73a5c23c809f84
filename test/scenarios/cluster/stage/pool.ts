import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { kubectl } from '../../../cluster/kubernetes/kubectl.ts'
import { NAMESPACE } from '../../../support/cluster/tested-release.ts'
import { eventually } from '../../../support/eventually.ts'
import type { Ends } from '../../../support/processes/own-plane.ts'

const IDLE_MILLISECONDS = 600_000
const PATCH_MILLISECONDS = 60_000

/** The default pool of a release. */
export const readPool = async (namespace = NAMESPACE): Promise<RunnerPool> =>
  JSON.parse(await kubectl(['get', 'runnerpool', 'default', '-n', namespace, '-o', 'json'])) as RunnerPool

/** Waits until nothing is queued or running and the pool has its minimum of idle runners, because others may use the cluster. */
export const waitUntilIdle = (namespace = NAMESPACE): Promise<boolean> =>
  eventually(
    'the pool is idle',
    async () => {
      const { metadata, spec, status = {} } = await readPool(namespace)
      const { idle = 0, busy = 0, queued = 0, observedGeneration } = status
      const isSeen = observedGeneration === metadata.generation
      return isSeen && busy === 0 && queued === 0 && idle >= Math.max(1, spec.minIdle ?? 1)
    },
    IDLE_MILLISECONDS,
  )

/** Gives the default pool of a release another size, until the end of the scenario. */
export async function setPoolSize(ends: Ends, size: { minIdle: number; maxPods: number }, namespace = NAMESPACE): Promise<void> {
  const { minIdle = null, maxPods = null } = (await readPool(namespace)).spec
  // Retries for a minute, so that a short outage of the API server does not leave the pool with another size.
  const patch = (spec: Record<string, number | null>) =>
    eventually(
      'the size of the pool is changed',
      () => kubectl(['patch', 'runnerpool', 'default', '-n', namespace, '--type=merge', '-p', JSON.stringify({ spec })]),
      PATCH_MILLISECONDS,
    )
  ends.teardown(() => patch({ minIdle, maxPods }))
  await patch(size)
  await waitUntilIdle(namespace)
}
