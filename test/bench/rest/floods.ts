import { setTimeout as sleep } from 'node:timers/promises'
import type { AccountUsage } from '../../../crds/src/kinds/account-usage.ts'
import type { Settings } from '../settings.ts'
import { readWrites, type Writes, writesBetween } from './api-server-writes.ts'
import { startLoad } from './load.ts'
import type { LoadResult } from './load-client.ts'
import { type Stage, withStage } from './stage.ts'

/** Creates of an account that has reached a limit. */
export interface FloodSample {
  limit: 'quota' | 'rate'
  refused: LoadResult
  /** Writes of the API server meanwhile, by resource. */
  writes: Writes
}

const LIMITS: Readonly<Record<FloodSample['limit'], AccountUsage['spec']>> = {
  quota: { limit: 10 },
  rate: { limit: 1_000_000, ratePerMinute: 10 },
}
const ALLOWED = 10
const ACCEPTED = 202
const TOO_MANY = 429
/** Time until accepted requests are settled and all caches are updated. */
const SETTLE_MILLISECONDS = 1_000

/** Exhausts a limit of an account, and then continues to send creates. */
export async function measureFloods(
  { clients: atOnce, seconds, profile }: Settings,
  progress: (line: string) => void,
): Promise<FloodSample[]> {
  return withStage({ fsync: false, profile }, async (stage) => {
    const { url } = await stage.startGateway()
    const load = startLoad()
    const samples: FloodSample[] = []
    for (const limit of ['quota', 'rate'] as const) {
      const key = await spendableKey(stage, limit)
      const create = {
        way: 'rest',
        urls: [url],
        key,
        method: 'POST',
        paths: ['/v1/screenshots'],
        body: { url: 'https://example.com/' },
      } as const
      await load.run({ ...create, atOnce: 1, count: ALLOWED }, ACCEPTED)
      await sleep(SETTLE_MILLISECONDS)
      const before = await readWrites(stage.admin)
      const refused = await load.run({ ...create, atOnce, seconds }, TOO_MANY)
      samples.push({ limit, refused, writes: writesBetween(before, await readWrites(stage.admin)) })
      progress(`flood over the ${limit}`)
    }
    await load.close()
    return samples
  })
}

async function spendableKey({ world }: Stage, limit: FloodSample['limit']): Promise<string> {
  const accountName = `over-${limit}`
  await world.createAccount(accountName, {}, LIMITS[limit])
  return world.createKey({ accountName, scopes: ['screenshots:write'] })
}
