import { randomBytes } from 'node:crypto'
import { loadavg } from 'node:os'
import { signLink } from '../../../api-gateway/client/src/link/sign.ts'
import { cacheHash } from '../../../api-gateway/src/cache/cache-hash.ts'
import { newId } from '../../../crds/src/identifiers/ids.ts'
import { cacheEntryKey, objectKey } from '../../../crds/src/records/storage-keys.ts'
import { aResult } from '../rest/finished.ts'
import { type Load, startLoad } from '../rest/load.ts'
import type { LoadResult } from '../rest/load-client.ts'
import { countProcessor, findDaemon, type Processes, type ProcessorUse } from '../rest/processor.ts'
import { type Stage, withStage } from '../rest/stage.ts'
import type { Settings } from '../settings.ts'

/** Requests of one kind, in one round. */
export interface LinkSample extends LoadResult {
  /** Milliseconds of each request. */
  processor: ProcessorUse
}

export const LINK_REQUESTS = ['GET', 'HEAD', '304', 'POST /screenshots'] as const
export type LinkRequest = (typeof LINK_REQUESTS)[number]

/** One round: every kind of request, one after the other. */
export interface LinkRound {
  round: number
  requests: Readonly<Record<LinkRequest, LinkSample>>
  /** Load average over the last minute. */
  load: number
}

const ACCOUNT = 'bench'
const PAGE = 'https://example.com/a/page?of=some&length=1'
export const PICTURE_BYTES = 50 * 1_024
const NO_LIMIT = '1000000000'

/** Requests a signed link to a cached picture, through one gateway. Nothing is captured. */
export async function measureLinks(settings: Settings, progress: (line: string) => void): Promise<LinkRound[]> {
  return withStage({ fsync: true, profile: settings.profile }, async (stage) => {
    const { world, startGateway } = stage
    await world.createAccount(ACCOUNT, {}, { limit: 1_000_000_000, ratePerMinute: 1_000_000 })
    const key = await world.createKey({ accountName: ACCOUNT })
    const { url, process } = await startGateway({ TINTYPE_LINK_REQUESTS_PER_MINUTE: NO_LIMIT })
    const etag = await storePicture(stage)
    const link = await linkTo(url, key)
    const load = startLoad()
    const processes = {
      clients: [load.pid],
      gateways: [process.pid ?? 0],
      'API server': [findDaemon(world, 'kube-apiserver')],
      etcd: [findDaemon(world, 'etcd')],
    }
    const rounds: LinkRound[] = []
    // Round 0 opens connections and warms up the JIT, and is not counted.
    for (let round = 0; round <= settings.rounds; round++) {
      const requests = await measureRound({ settings, load, processes, url, key, link, etag })
      if (round > 0) rounds.push({ round, requests, load: loadavg()[0] ?? 0 })
      progress(`links, round ${round}`)
    }
    await load.close()
    return rounds
  })
}

/** Stores a picture and its cache entry as runner and operator do. Returns the entity tag of the picture. */
async function storePicture({ world: { bucket, ring } }: Stage): Promise<string> {
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
  const headers = { authorization: `Bearer ${key}` }
  const read = async (path: string, method: string) => {
    const response = await fetch(`${url}/v1${path}`, { method, headers })
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
    return response.json()
  }
  const { data } = (await read('/keys', 'GET')) as { data: { id: string }[] }
  const [{ id } = { id: '' }] = data
  const { data: found } = (await read(`/keys/${id}/link-secret`, 'POST')) as { data: { link_secret: string } }
  const link = await signLink({ baseUrl: url, key: id, secret: found.link_secret, params: { url: PAGE } })
  return link.slice(url.length)
}

interface Parts {
  settings: Settings
  load: Load
  processes: Processes
  url: string
  key: string
  link: string
  etag: string
}

async function measureRound({ settings, load, processes, url, key, link, etag }: Parts): Promise<LinkRound['requests']> {
  const { clients: atOnce, seconds } = settings
  const take = { way: 'rest', urls: [url], method: 'GET', paths: [link], atOnce, seconds } as const
  const run = async (order: Parameters<Load['run']>[0], status: number): Promise<LinkSample> => {
    const { result, processor } = await countProcessor(processes, 1, () => load.run(order, status))
    const each = Object.entries(processor).map(([program, milliseconds]) => [program, milliseconds / result.milliseconds.length])
    return { ...result, processor: Object.fromEntries(each) as ProcessorUse }
  }
  return {
    GET: await run(take, 200),
    HEAD: await run({ ...take, method: 'HEAD' }, 200),
    304: await run({ ...take, headers: { 'if-none-match': `"${etag}"` } }, 304),
    'POST /screenshots': await run({ ...take, method: 'POST', paths: ['/v1/screenshots'], key, body: { url: PAGE } }, 202),
  }
}
