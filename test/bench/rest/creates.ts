import { loadavg } from 'node:os'
import type { Gateway } from '../../integration/api-gateway/world.ts'
import type { Settings } from '../settings.ts'
import { type Load, startLoad } from './load.ts'
import type { LoadOrder, LoadResult } from './load-client.ts'
import { countProcessor, findDaemon, type ProcessorUse } from './processor.ts'
import { BARE_NAMESPACE, type Stage, withStage } from './stage.ts'

/** One method of creating, in one round. */
export interface Way extends LoadResult {
  /** Milliseconds of each screenshot. */
  processor: ProcessorUse
}

/** One round: the same number of screenshots with each method, one method after the other. */
export interface CreateSample {
  round: number
  gateways: number
  /** Creates by the gateway's client library in the namespace that gateways watch, so each gateway receives each event. */
  bare: Way
  /** The same in a namespace without watches. */
  unwatched: Way
  /** POST /v1/screenshots. */
  single: Way
  /** Batches of 100, one after the other, and several concurrently. */
  batch: Way
  batches: Way
  /** Load average over the last minute. */
  load: number
}

export const BATCH_SIZE = 100
const BATCHES_AT_ONCE = 4
const ACCOUNT = 'bench'
const URL_TO_CAPTURE = 'https://example.com/a/page?of=some&length=1'
const ACCEPTED = 202
const CREATED = 201

/** Measures one gateway, then three, each next to bare creates. The rate limit of the gateways is never reached. */
export async function measureCreates(settings: Settings, progress: (line: string) => void): Promise<CreateSample[]> {
  return withStage({ fsync: true, profile: settings.profile }, async (stage) => {
    const { world, startGateway } = stage
    await world.createAccount(ACCOUNT, {}, { limit: 1_000_000_000, ratePerMinute: 1_000_000 })
    const key = await world.createKey({ accountName: ACCOUNT, scopes: ['screenshots:read', 'screenshots:write'] })
    const load = startLoad()
    const samples: CreateSample[] = []
    const gateways = [await startGateway()]
    for (const count of [1, 3]) {
      while (gateways.length < count) gateways.push(await startGateway())
      // Round 0 opens connections and warms up the JIT, and is not counted.
      for (let round = 0; round <= settings.rounds; round++) {
        const sample = await measureRound({ settings, stage, gateways, key, load })
        if (round > 0) samples.push({ round, ...sample })
        progress(`creates, ${count} gateways, round ${round}`)
      }
    }
    await load.close()
    return samples
  })
}

interface Parts {
  settings: Settings
  stage: Stage
  gateways: readonly Gateway[]
  key: string
  load: Load
}

async function measureRound({ settings, stage, gateways, key, load }: Parts): Promise<Omit<CreateSample, 'round'>> {
  const { creates: count, clients: atOnce } = settings
  const { world } = stage
  const processes = {
    clients: [load.pid],
    gateways: gateways.map(({ process }) => process.pid ?? 0),
    'API server': [findDaemon(world, 'kube-apiserver')],
    etcd: [findDaemon(world, 'etcd')],
  }
  const run = async (order: LoadOrder, status: number, items: number): Promise<Way> => {
    const { result, processor } = await countProcessor(processes, items, () => load.run(order, status))
    return { ...result, processor }
  }
  const spec = { url: URL_TO_CAPTURE, accountName: ACCOUNT }
  const bare = { way: 'bare', kubeconfig: world.plane.kubeconfigPath, spec, count, atOnce } as const
  const rest = { way: 'rest', urls: gateways.map(({ url }) => url), key, method: 'POST' } as const
  const single = { ...rest, paths: ['/v1/screenshots'], body: { url: URL_TO_CAPTURE }, count, atOnce }
  const urls = Array.from({ length: BATCH_SIZE }, (_, index) => `${URL_TO_CAPTURE}&n=${index}`)
  const batches = Math.ceil(count / BATCH_SIZE)
  const batch = { ...rest, paths: ['/v1/screenshots/batch'], body: { urls }, count: batches }
  return {
    gateways: gateways.length,
    load: loadavg()[0] ?? 0,
    unwatched: await run({ ...bare, namespace: BARE_NAMESPACE }, CREATED, count),
    bare: await run({ ...bare, namespace: world.plane.namespace }, CREATED, count),
    single: await run(single, ACCEPTED, count),
    batch: await run({ ...batch, atOnce: 1 }, ACCEPTED, batches * BATCH_SIZE),
    batches: await run({ ...batch, atOnce: BATCHES_AT_ONCE }, ACCEPTED, batches * BATCH_SIZE),
  }
}
