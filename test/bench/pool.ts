import { setTimeout as sleep } from 'node:timers/promises'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import { kubectl } from '../support/cluster/environment.ts'
import { readPool } from './bare-pod.ts'
import { undoing } from './report/undo.ts'

const IDLE_MILLISECONDS = 600_000
const PATCH_MILLISECONDS = 60_000
const LOOK_MILLISECONDS = 500

/** Waits until nothing is queued or running and the pool has its minimum of idle runners, because others may use the cluster. */
export async function waitUntilIdle(): Promise<RunnerPool> {
  const end = performance.now() + IDLE_MILLISECONDS
  for (;;) {
    const pool = await readPool()
    const { idle = 0, busy = 0, queued = 0, observedGeneration } = pool.status ?? {}
    const isSeen = observedGeneration === pool.metadata.generation
    if (isSeen && busy === 0 && queued === 0 && idle >= Math.max(1, pool.spec.minIdle ?? 1)) return pool
    if (performance.now() > end) throw new Error(`the pool is still busy: ${idle} idle, ${busy} busy, ${queued} queued`)
    await sleep(LOOK_MILLISECONDS)
  }
}

/** Runs `act` with another pool size, and always restores it. */
export async function withPoolSize<T>(size: { minIdle: number; maxPods: number }, act: () => Promise<T>): Promise<T> {
  const { minIdle = null, maxPods = null } = (await readPool()).spec
  return undoing(
    () => patchSpec({ minIdle, maxPods }),
    async () => {
      await patchSpec(size)
      await waitUntilIdle()
      return act()
    },
  )
}

/** Retries for a minute, so that a short outage of the API server does not leave the pool with another size. */
async function patchSpec(spec: Record<string, number | null>): Promise<void> {
  const end = performance.now() + PATCH_MILLISECONDS
  for (;;) {
    const { code, stderr } = await kubectl(['patch', 'runnerpool', 'default', '--type=merge', '-p', JSON.stringify({ spec })])
    if (code === 0) return
    if (performance.now() > end) throw new Error(`the pool's size cannot be changed: ${stderr}`)
    await sleep(LOOK_MILLISECONDS)
  }
}
