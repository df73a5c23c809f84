import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Gateway } from '../../integration/api-gateway/world.ts'
import type { Settings } from '../settings.ts'
import { createFinished } from './finished.ts'
import { startLoad } from './load.ts'
import { withStage } from './stage.ts'

/** Memory of one gateway at one moment. */
export interface GatewayMemory {
  when: string
  residentMebibytes: number
  /** Maximum since the process started. */
  peakMebibytes: number
}

const ACCOUNT = 'bench'
const OK = 200
const ACCEPTED = 202
/** Time until the watch has delivered all objects and the garbage collector has run. */
const REST_MILLISECONDS = 5_000

/** Reads `VmRSS:  1234 kB` and `VmHWM` of /proc/<pid>/status. */
export function parseResident(status: string): Omit<GatewayMemory, 'when'> {
  const mebibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024
  return { residentMebibytes: mebibytes('VmRSS'), peakMebibytes: mebibytes('VmHWM') }
}

/** Creates records while a gateway watches, sends requests to it, and starts a second gateway that lists. */
export async function measureGatewayMemory(settings: Settings, progress: (line: string) => void): Promise<GatewayMemory[]> {
  const { records, clients: atOnce, seconds, profile } = settings
  return withStage({ fsync: false, profile }, async ({ world, admin, startGateway }) => {
    await world.createAccount(ACCOUNT, {}, { limit: 1_000_000_000, ratePerMinute: 1_000_000 })
    const key = await world.createKey({ accountName: ACCOUNT, scopes: ['screenshots:read', 'screenshots:write'] })
    const samples: GatewayMemory[] = []
    const look = async (when: string, { process }: Gateway): Promise<void> => {
      await sleep(REST_MILLISECONDS)
      samples.push({ when, ...parseResident(readFileSync(`/proc/${process.pid}/status`, 'utf8')) })
      progress(`memory ${when}`)
    }
    // Leaves room for the objects that the requests create.
    const env = { TINTYPE_RETENTION_MAX_LIVE: String(records) }
    const gateway = await startGateway(env)
    await look('just started, no records', gateway)
    const ids = await createFinished(admin, ACCOUNT, records)
    await look(`${records} live Screenshots, as they came`, gateway)
    const load = startLoad()
    const rest = { way: 'rest', urls: [gateway.url], key, atOnce } as const
    const paths = ids.slice(0, 1_000).map((id) => `/v1/screenshots/${id}`)
    await load.run({ ...rest, method: 'GET', paths, seconds }, OK)
    await load.run({ ...rest, method: 'GET', paths: ['/v1/screenshots?limit=100'], count: 200 }, OK)
    await load.run({ ...rest, method: 'POST', paths: ['/v1/screenshots'], body: { url: 'https://example.com/' }, count: 1_000 }, ACCEPTED)
    await load.close()
    await look('after reads, lists and 1000 creations', gateway)
    await look(`another gateway, started with ${records}`, await startGateway(env))
    return samples
  })
}
