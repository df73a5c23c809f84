import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { Test } from 'tap'
import { linkSignature } from '../../../api-gateway/client/src/link/sign.ts'
import { mergePatch } from '../../../crds/client/resource.ts'
import { apiKeyIdOf, screenshotIdOf } from '../../../crds/src/identifiers/ids.ts'
import type { Account } from '../../../crds/src/kinds/account.ts'
import type { CaptureResult, Screenshot } from '../../../crds/src/kinds/screenshot.ts'
import { PictureCache } from '../../../operator/src/controllers/screenshot/picture-cache.ts'
import { openStorage } from '../../../operator/src/storage/storage.ts'
import { eventually } from '../../support/eventually.ts'
import { call } from '../api-gateway/client.ts'
import { complete } from '../api-gateway/runner-role.ts'
import type { Gateway, World } from '../api-gateway/world.ts'

// Signed links to real gateways. Links are signed by the client, which shares no code with the gateway. The cache entries are written by the operator's
// own code, and `complete` stands in for a runner.

export const PAGE = 'url=https%3A%2F%2Fexample.com%2F'

export interface TakeResponse {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}

const agent = new Agent({ keepAlive: true })

interface TakeOptions {
  method?: string
  headers?: Record<string, string>
}

/** Requests a path exactly as it is given. `fetch` would encode it again, and follow redirects. */
export async function getPath(origin: string, path: string, { method = 'GET', headers = {} }: TakeOptions = {}): Promise<TakeResponse> {
  const { hostname, port } = new URL(origin)
  const { promise, resolve, reject } = Promise.withResolvers<TakeResponse>()
  const sent = request({ hostname, port, path, method, headers, agent }, (response) => {
    buffer(response).then((bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes }), reject)
  })
  // A gateway that closes an idle connection can do so while the next request is sent.
  const isLate = (error: NodeJS.ErrnoException) => sent.reusedSocket && error.code === 'ECONNRESET'
  sent.on('error', (error) => (isLate(error) ? resolve(getPath(origin, path, { method, headers })) : reject(error))).end()
  return promise
}

/** Requests a link. */
export const take = ({ url }: Pick<Gateway, 'url'>, query: string, options?: TakeOptions): Promise<TakeResponse> =>
  getPath(url, `/v1/take?${query}`, options)

/** Status and code of a response, without a code if it is not an error. */
export function outcomeOf({ status, headers, bytes }: TakeResponse): string {
  if (!headers['content-type']?.startsWith('application/json')) return String(status)
  return `${status} ${JSON.parse(bytes.toString()).error.code}`
}

async function createIn(world: World, name: string, spec: Partial<Account['spec']>): Promise<string> {
  await world.createAccount(name, spec)
  return world.createKey({ accountName: name })
}

/** Creates an account and a key with all scopes. Returns its text. */
type CreateAccount = (name: string, spec: Partial<Account['spec']>) => Promise<string>

/** Creates accounts whose keys sign links. `gateway` is the one that creates keys. */
export function accountsOf(world: World, gateway: Gateway, create: CreateAccount = (name, spec) => createIn(world, name, spec)) {
  const secretOf = async (id: string, key: string): Promise<string> => {
    const { body } = await call(`${gateway.url}/v1/keys/${id}/link-secret`, { method: 'POST', key })
    return body.data.link_secret
  }
  return async (name: string, spec: Partial<Account['spec']> = {}) => {
    const text = await create(name, spec)
    const ofAccount = async () => (await world.keys.list()).items.find((key) => key.spec.accountName === name)
    const id = apiKeyIdOf((await ofAccount())!.metadata)
    const secret = await secretOf(id, text)
    /** Signs a query as the client does. */
    const sign = async (query: string) => `key=${id}&${query}&signature=${await linkSignature(`key=${id}&${query}`, secret)}`
    const shots = async () => (await world.screenshots.listAll()).filter(({ spec }) => spec.accountName === name)
    /** Resolves when the account has this many Screenshots, and one of them is pending. Returns that one. */
    const whenCreated = (count: number) =>
      eventually(`${name} has ${count} screenshots`, async () => {
        const all = await shots()
        return all.length >= count && all.find(isPending)
      })
    const used = async () => (await world.usages.get(name)).status?.used
    return { id, text, secret, sign, name, shots, whenCreated, used }
  }
}

const isPending = ({ status }: Screenshot): boolean => (status?.phase ?? 'Pending') === 'Pending'

/** The picture of a Screenshot. Each has its own. */
export const pictureOf = ({ metadata }: Screenshot): Buffer => Buffer.from(`picture of ${metadata.name}`)

/** Ends captures as runner and operator do. */
export function captures(world: World) {
  const { endpoint, accessKey, secretKey } = world.store
  const storage = openStorage({ endpoint, accessKey, secretKey, region: 'us-east-1', bucket: 'tintype' })
  const cache = new PictureCache({ storage, log: pino({ level: 'silent' }), report: () => {}, now: () => new Date() })
  /** Changes a finished Screenshot and its cache entry as if the capture had ended `seconds` ago. */
  const cacheSince = async (name: string, seconds: number): Promise<void> => {
    const completionTime = new Date(Date.now() - seconds * 1_000).toISOString()
    await cache.keep(await world.screenshots.patch(name, mergePatch({ status: { completionTime } }), { subresource: 'status' }))
  }
  const end = async (shot: Screenshot, more?: Partial<CaptureResult>): Promise<void> => {
    await complete(screenshotIdOf(shot.metadata), pictureOf(shot), world, more)
    await cache.keep(await world.screenshots.get(shot.metadata.name))
  }
  return { end, cacheSince }
}

/** Runs `end` once for each new Screenshot, until the test ends. The returned function resolves when each that has begun is complete. */
export function endEach(t: Test, world: World, end: (shot: Screenshot) => Promise<void>): () => Promise<void> {
  const seen = new Set<string>()
  const ends: Promise<void>[] = []
  let isRunning = true
  const look = async () => {
    for (const shot of await world.screenshots.listAll()) {
      if (seen.has(shot.metadata.name)) continue
      seen.add(shot.metadata.name)
      ends.push(end(shot))
    }
  }
  const work = (async () => {
    while (isRunning) {
      await look()
      await sleep(50)
    }
  })()
  const whenEnded = async () => void (await Promise.all(ends))
  t.teardown(async () => {
    isRunning = false
    await work
    await whenEnded()
  })
  return whenEnded
}
