import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { signLink } from '../../../api-gateway/client/src/link/sign.ts'
import { cacheHash } from '../../../api-gateway/src/cache/cache-hash.ts'
import type { KeyRing } from '../../../crds/src/crypto/signatures.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { cacheEntryKey, objectKey } from '../../../crds/src/records/storage-keys.ts'
import { readLoad } from '../harness/machine.ts'
import { countProcessor, readMemory } from '../harness/processes.ts'
import { scenario } from '../harness/scenario.ts'
import { median, percentile } from '../harness/statistics.ts'
import { fixed, tableOf } from '../harness/table.ts'
import { aResult, createFinished } from './stage/finished.ts'
import { type GatewayPod, type Plane, plane } from './stage/plane.ts'
import { prepareGateway, processesOf, profileFlags } from './stage/programs.ts'
import { bodyOf, type Load, type LoadTimes, rateOf, send, sendAtOnce } from './stage/requests.ts'

// The gateway without captures: there is no operator, so nothing is captured.

const BODY = { url: 'https://example.com/' }
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
    const samples: ({ when: string } & ReturnType<typeof readMemory>)[] = []
    const look = async (when: string, { pid }: GatewayPod): Promise<void> => {
      await sleep(REST_MILLISECONDS)
      samples.push({ when, ...readMemory(pid) })
      report.progress(`memory ${when}`)
    }
    await look('just started, no records', gateway)
    const ids = await createFinished(stage, 'bench', records)
    await look(`${records} live Screenshots, as they came`, gateway)
    const url = `${gateway.url}/v1/screenshots`
    const request = { key: keys[0] ?? '', atOnce }
    const paths = ids.slice(0, 1_000).map((id) => `${url}/${id}`)
    await sendAtOnce(paths, { ...request, seconds, status: 200 })
    await sendAtOnce([`${url}?limit=100`], { ...request, count: 200, status: 200 })
    await sendAtOnce([url], { ...request, method: 'POST', body: BODY, count: 1_000, status: 202 })
    await look('after reads, lists and 1000 creations', gateway)
    await look(`another gateway, started with ${records}`, await stage.startGateway(options))
    report.table(
      tableOf('Memory of one gateway (MiB; target: 300 resident)', samples, {
        when: ({ when }) => when,
        resident: ({ residentMebibytes }) => residentMebibytes,
        peak: ({ peakMebibytes }) => peakMebibytes,
      }),
    )
  },
})

const ACCOUNT = 'bench'
const PAGE = 'https://example.com/a/page?of=some&length=1'
const PICTURE_BYTES = 50 * 1_024

/** Requests of one kind, in one round, with processor milliseconds of all. */
type Sample = LoadTimes & { used: Readonly<Record<string, number>>; load: number }

/** Requests a signed link to a cached picture, through one gateway. Nothing is captured. */
export const links = scenario({
  name: 'links',
  shows: 'a cached picture by signed link, through one gateway',
  stage: plane(),
  options: { rounds: 5, clients: 32, seconds: 5, profile: undefined },
  run: async ({ stage, settings: { rounds, clients: atOnce, seconds, profile }, ...report }) => {
    const environment = { TINTYPE_LINK_REQUESTS_PER_MINUTE: '1000000000' }
    const { gateway, keys } = await prepareGateway(stage, { [ACCOUNT]: 'scale' }, { environment, flags: profileFlags(profile) })
    const [key = ''] = keys
    const etag = await storePicture(stage)
    const link = await linkTo(gateway.url, key)
    const processes = processesOf(stage, [], [gateway])
    const take = { atOnce, seconds, status: 200 }
    const requests: Readonly<Record<string, Load & { url?: string }>> = {
      'GET /take': take,
      'HEAD /take': { ...take, method: 'HEAD' },
      'GET /take with If-None-Match (304)': { ...take, headers: { 'if-none-match': `"${etag}"` }, status: 304 },
      'POST /screenshots': { ...take, url: `${gateway.url}/v1/screenshots`, method: 'POST', key, body: { url: PAGE }, status: 202 },
    }
    const samples = new Map<string, Sample[]>(Object.keys(requests).map((name) => [name, []]))
    // Round 0 opens connections and warms up the JIT, and is not counted.
    for (let round = 0; round <= rounds; round++) {
      for (const [name, { url = link, ...request }] of Object.entries(requests)) {
        const { result, used } = await countProcessor(processes, () => sendAtOnce([url], request))
        if (round > 0) samples.get(name)?.push({ ...result, used, load: readLoad() })
      }
      report.progress(`links, round ${round}`)
    }
    type OfSample = (sample: Sample) => number
    const middle =
      (of: OfSample, digits = 0) =>
      ([, all]: [string, readonly Sample[]]) =>
        fixed(median(all.map(of)), digits)
    const percent =
      (wanted: number): OfSample =>
      (sample) =>
        percentile(sample.milliseconds, wanted)
    const eachOf =
      (program: string): OfSample =>
      (sample) =>
        (sample.used[program] ?? 0) / sample.milliseconds.length
    const targets = 'target: 1,500 GET per second, p99 50 ms; medians of the rounds'
    report.table(
      tableOf(`A cached picture of 50 KiB by signed link, through one gateway (${targets})`, [...samples], {
        request: ([name]) => name,
        'per second': middle(rateOf),
        'p50 (ms)': middle(percent(50), 1),
        'p99 (ms)': middle(percent(99), 1),
        'gateway processor (ms)': middle(eachOf('gateway'), 2),
        'clients processor (ms)': middle(eachOf('clients'), 2),
        load: middle(({ load }) => load, 1),
      }),
    )
  },
})

/** Stores a picture and its cache entry as runner and operator do. Returns the entity tag of the picture. */
async function storePicture({ bucket, directory }: Plane): Promise<string> {
  const ring = JSON.parse(await readFile(path.join(directory, 'keys.json'), 'utf8')) as KeyRing
  const id = newId('scr', new Date())
  const hash = cacheHash({ account: ACCOUNT, url: PAGE, options: {} }, ring)
  const { etag } = await bucket.putObject('tintype', objectKey(ACCOUNT, id, 'png'), randomBytes(PICTURE_BYTES))
  const result = { ...aResult(PAGE), fileSizeBytes: PICTURE_BYTES, etag }
  const entry = { version: 1, id, completedAt: new Date().toISOString(), result }
  await bucket.putObject('tintype', cacheEntryKey(ACCOUNT, hash), JSON.stringify(entry))
  return etag
}

/** Signs a link to the picture. */
async function linkTo(url: string, key: string): Promise<string> {
  const { data } = bodyOf<{ data: { id: string }[] }>(await send(`${url}/v1/keys`, { key }), 200)
  const [{ id } = { id: '' }] = data
  const reply = await send(`${url}/v1/keys/${id}/link-secret`, { method: 'POST', key })
  const { link_secret: secret } = bodyOf<{ data: { link_secret: string } }>(reply, 200).data
  return signLink({ baseUrl: url, key: id, secret, params: { url: PAGE } })
}
