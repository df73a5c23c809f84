import { setTimeout as sleep } from 'node:timers/promises'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { kubectl } from '../../cluster/kubernetes/kubectl.ts'
import { eventually } from '../../support/eventually.ts'
import { undoing } from '../report/undo.ts'

const READY_MILLISECONDS = 600_000
const SETTLE_MILLISECONDS = 2_000

const readPoolIn = async (namespace: string): Promise<RunnerPool> =>
  JSON.parse(await kubectl(['get', 'runnerpool', 'default', '-n', namespace, '-o', 'json'])) as RunnerPool

const patchPool = (namespace: string, size: Record<string, number | null>): Promise<string> =>
  kubectl(['patch', 'runnerpool', 'default', '-n', namespace, '--type=merge', '-p', JSON.stringify({ spec: size })])

/** Runs `act` while the default pool of a namespace has a fixed number of runners, and always restores its size. */
export async function withRunners<T>(namespace: string, count: number, act: () => Promise<T>): Promise<T> {
  const { minIdle = null, maxPods = null } = (await readPoolIn(namespace)).spec
  return undoing(
    () => patchPool(namespace, { minIdle, maxPods }),
    async () => {
      await patchPool(namespace, { minIdle: count, maxPods: count })
      const areIdle = async () => ((await readPoolIn(namespace)).status?.idle ?? 0) >= count
      await eventually(`${count} runners of ${namespace} are idle`, areIdle, READY_MILLISECONDS)
      await sleep(SETTLE_MILLISECONDS)
      return act()
    },
  )
}
