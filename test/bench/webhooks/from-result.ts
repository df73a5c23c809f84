import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { accessFromKubeconfig } from '../../../crds/client/cluster-access.ts'
import { screenshots, webhooks } from '../../../crds/client/kinds.ts'
import { KubeHttp } from '../../../crds/client/kube-http.ts'
import { mergePatch } from '../../../crds/client/patch.ts'
import { Reflector } from '../../../crds/client/reflector.ts'
import { Resource } from '../../../crds/client/resource.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { startWorld, type World } from '../../integration/api-gateway/world.ts'
import { eventually } from '../../support/eventually.ts'
import { completedStatus } from '../../support/fakes/builders.ts'
import { undoing } from '../report/undo.ts'
import type { Settings } from '../settings.ts'
import { startDeliveries } from './operator.ts'
import { type Target, withTargets } from './target.ts'

/** One round through an API server. */
export interface FromResultSample {
  round: number
  /** Milliseconds from the runner's report to the arrival of the first attempt. */
  milliseconds: number[]
  load: number
}

const RESULTS_PER_SECOND = 20
/** A webhook only receives events from the second after its creation on. */
const SETTLING_MILLISECONDS = 1_500

/** Reports results as runners do, through an API server whose etcd waits for the disk, and measures until the operator's first post. */
export async function measureFromResult({ rounds, seconds }: Settings, progress: (line: string) => void): Promise<FromResultSample[]> {
  const world = await startWorld({ fsync: true })
  return undoing(world.stop, () =>
    withTargets(async (start) => {
      const samples: FromResultSample[] = []
      const target = await start()
      await withOperator(world, target, async (http) => {
        for (let round = 0; round <= rounds; round++) {
          const milliseconds = await measureRound(http, target, seconds * RESULTS_PER_SECOND)
          if (round > 0) samples.push({ round, milliseconds, load: loadavg()[0] ?? 0 })
          progress(`webhooks through an API server, round ${round}`)
        }
      })
      target.end()
      return samples
    }),
  )
}

/** Runs an operator's deliveries with one webhook. */
async function withOperator({ plane, openingKeys }: World, { url, ca }: Target, act: (http: KubeHttp) => Promise<void>): Promise<void> {
  const http = new KubeHttp(await accessFromKubeconfig(plane.kubeconfigPath))
  const caches = { screenshots: new Reflector({ http, resource: screenshots }), webhooks: new Reflector({ http, resource: webhooks }) }
  for (const cache of Object.values(caches)) cache.start()
  await Promise.all(Object.values(caches).map((cache) => cache.whenSynced()))
  const work = startDeliveries({ http, openingKeys, ...caches }, ca)
  const hooks = new Resource(http, webhooks)
  await hooks.create({ metadata: { name: 'bench' }, spec: { url, events: ['screenshot.completed'] } })
  await eventually('the webhook is active', async () => (await hooks.get('bench')).status?.activeSince !== undefined)
  await sleep(SETTLING_MILLISECONDS)
  await act(http)
  await work.stop()
  await Promise.all(Object.values(caches).map((cache) => cache.stop()))
  await http.close()
}

async function measureRound(http: KubeHttp, target: Target, count: number): Promise<number[]> {
  const shots = new Resource(http, screenshots)
  const ids = Array.from({ length: count }, () => newId('scr', new Date()))
  for (const id of ids) await shots.create({ metadata: { name: toObjectName(id) }, spec: { url: 'https://example.com/' } })
  const sent = new Map<string, number>()
  const writes: Promise<unknown>[] = []
  for (const id of ids) {
    sent.set(id, performance.timeOrigin + performance.now())
    const status = completedStatus({ completionTime: new Date().toISOString() })
    writes.push(shots.patch(toObjectName(id), mergePatch({ status }), { subresource: 'status' }))
    await sleep(1_000 / RESULTS_PER_SECOND)
  }
  await Promise.all(writes)
  await sleep(1_000) // waits for the last deliveries
  const { arrivals } = await target.take()
  if (arrivals.length !== count) throw new Error(`${arrivals.length} of ${count} deliveries arrived`)
  return arrivals.map(([, id, at]) => at - (sent.get(id) ?? Number.NaN))
}
