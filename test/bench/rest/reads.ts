import { loadavg } from 'node:os'
import type { Settings } from '../settings.ts'
import { createFinished } from './finished.ts'
import { startLoad } from './load.ts'
import type { LoadResult } from './load-client.ts'
import { withStage } from './stage.ts'

/** GET /v1/screenshots/:id of finished records, by one gateway. */
export interface ReadSample {
  round: number
  reads: LoadResult
  load: number
}

const RECORDS = 1_000
const ACCOUNT = 'bench'
const OK = 200

/** Reads records in rotation for some seconds per round. */
export async function measureReads(settings: Settings, progress: (line: string) => void): Promise<ReadSample[]> {
  return withStage({ fsync: false, profile: settings.profile }, async ({ world, admin, startGateway }) => {
    await world.createAccount(ACCOUNT, {}, { limit: 1_000_000_000, ratePerMinute: 1_000_000 })
    const key = await world.createKey({ accountName: ACCOUNT, scopes: ['screenshots:read'] })
    const ids = await createFinished(admin, ACCOUNT, RECORDS)
    const { url } = await startGateway()
    const load = startLoad()
    const samples: ReadSample[] = []
    const paths = ids.map((id) => `/v1/screenshots/${id}`)
    for (let round = 0; round <= settings.rounds; round++) {
      const order = { way: 'rest', urls: [url], key, method: 'GET', paths, atOnce: settings.clients, seconds: settings.seconds } as const
      const reads = await load.run(order, OK)
      if (round > 0) samples.push({ round, reads, load: loadavg()[0] ?? 0 })
      progress(`reads, round ${round}`)
    }
    await load.close()
    return samples
  })
}
