import { setTimeout as sleep } from 'node:timers/promises'
import { DEFAULT_PLANS } from '../../../crds/src/usage/plans.ts'
import { readMemory } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { percentile } from '../harness/statistics.ts'
import { fixed, tableOf } from '../harness/table.ts'
import { createFinished } from './stage/finished.ts'
import { type GatewayPod, plane } from './stage/plane.ts'
import { prepareGateway, profileFlags } from './stage/programs.ts'
import { type LoadTimes, rateOf, sendAtOnce } from './stage/requests.ts'
import { readWrites, type Writes, writesBetween } from './stage/writes.ts'

// The gateway without captures: there is no operator, so nothing is captured.

const PAGE = { url: 'https://example.com/' }
const ALLOWED = 10
/** Plans whose accounts reach one of the limits after ten creates. */
const LIMITS = { quota: 'free', rate: 'basic' } as const
const TINTYPE_PLANS = JSON.stringify({
  ...DEFAULT_PLANS,
  free: { ...DEFAULT_PLANS.free, monthlyQuota: ALLOWED, ratePerMinute: 1_000_000 },
  basic: { ...DEFAULT_PLANS.basic, monthlyQuota: 1_000_000, ratePerMinute: ALLOWED },
})
/** Time until accepted requests are settled and all caches are updated. */
const SETTLE_MILLISECONDS = 1_000
/** Resources that a rejected create might write. */
const WATCHED = ['screenshots', 'accountusages']

/** Creates of an account that has reached a limit. */
interface Flood {
  limit: string
  refused: LoadTimes
  /** Writes of the API server meanwhile, by resource. */
  writes: Writes
}

/** Exhausts a limit of an account, and then continues to send creates. */
export const restFloods = scenario({
  name: 'rest-floods',
  shows: 'rejected creates of an account without quota or rate, and the writes that they cause',
  stage: plane({ fsync: false }),
  options: { clients: 32, seconds: 5, profile: undefined },
  run: async ({ stage, settings: { clients, seconds, profile }, ...report }) => {
    const options = { environment: { TINTYPE_PLANS }, flags: profileFlags(profile) }
    const { gateway, keys } = await prepareGateway(stage, LIMITS, options)
    const floods: Flood[] = []
    for (const [n, limit] of Object.keys(LIMITS).entries()) {
      const create = { method: 'POST', key: keys[n] ?? '', body: PAGE }
      const urls = [`${gateway.url}/v1/screenshots`]
      await sendAtOnce(urls, { ...create, atOnce: 1, count: ALLOWED, status: 202 })
      await sleep(SETTLE_MILLISECONDS)
      const before = await readWrites(stage.admin)
      const refused = await sendAtOnce(urls, { ...create, atOnce: clients, seconds, status: 429 })
      const writes = writesBetween(before, await readWrites(stage.admin))
      floods.push({ limit, refused, writes })
      const written = WATCHED.map((resource) => `${writes.get(resource) ?? 0} ${resource}`)
      report.holds(
        `rejected creates above the ${limit} write nothing`,
        WATCHED.every((name) => !writes.has(name)),
        written.join(', '),
      )
    }
    report.table(
      tableOf('Rejected creates above a limit, and the writes of the API server meanwhile', floods, {
        limit: ({ limit }) => limit,
        rejected: ({ refused }) => refused.milliseconds.length,
        'per second': ({ refused }) => rateOf(refused),
        'p50 (ms)': ({ refused }) => percentile(refused.milliseconds, 50),
        'p99 (ms)': ({ refused }) => percentile(refused.milliseconds, 99),
        writes: ({ writes }) => [...writes].map(([resource, count]) => `${count} ${resource}`).join(', '),
      }),
    )
  },
})

/** Memory of one gateway at one moment, in MiB. */
export interface GatewayMemory {
  when: string
  residentMebibytes: number
  /** Maximum since the process started. */
  peakMebibytes: number
}

export const memoryTable = (title: string, samples: readonly GatewayMemory[]) =>
  tableOf(`${title} (MiB; target: 300 resident)`, samples, {
    when: ({ when }) => when,
    resident: ({ residentMebibytes }) => fixed(residentMebibytes, 0),
    peak: ({ peakMebibytes }) => fixed(peakMebibytes, 0),
  })

/** Time until the watch has delivered all objects and the garbage collector has run. */
const REST_MILLISECONDS = 5_000

/** Creates records while a gateway watches, sends requests to it, and starts a second gateway that lists. */
export const restMemory = scenario({
  name: 'rest-memory',
  shows: 'memory of a gateway with 20,000 live Screenshots',
  stage: plane({ fsync: false }),
  options: { clients: 32, seconds: 5, records: 20_000, profile: undefined },
  run: async ({ stage, settings: { clients: atOnce, seconds, records, profile }, ...report }) => {
    // Leaves room for the objects that the requests create.
    const options = { environment: { TINTYPE_RETENTION_MAX_LIVE: String(records) }, flags: profileFlags(profile) }
    const { gateway, keys } = await prepareGateway(stage, { bench: 'scale' }, options)
    const samples: GatewayMemory[] = []
    const look = async (when: string, { pid }: GatewayPod): Promise<void> => {
      await sleep(REST_MILLISECONDS)
      samples.push({ when, ...readMemory(pid) })
      report.progress(`memory ${when}`)
    }
    await look('just started, no records', gateway)
    const ids = await createFinished(stage.admin, 'bench', records)
    await look(`${records} live Screenshots, as they came`, gateway)
    const url = `${gateway.url}/v1/screenshots`
    const request = { key: keys[0] ?? '', atOnce }
    const paths = ids.slice(0, 1_000).map((id) => `${url}/${id}`)
    await sendAtOnce(paths, { ...request, seconds, status: 200 })
    await sendAtOnce([`${url}?limit=100`], { ...request, count: 200, status: 200 })
    await sendAtOnce([url], { ...request, method: 'POST', body: PAGE, count: 1_000, status: 202 })
    await look('after reads, lists and 1000 creations', gateway)
    await look(`another gateway, started with ${records}`, await stage.startGateway(options))
    report.table(memoryTable('Memory of one gateway', samples))
  },
})
