import { isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { keyOf } from '@tintype/crds/client/kube-object'
import { Store } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import { Reflector, type ReflectorMetrics } from '@tintype/crds/client/reflector'
import { mergePatch, Resource, tintypeResource } from '@tintype/crds/client/resource'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { isApiKeyIdName, Label, toObjectName } from '@tintype/crds/identifiers/names'
import type { Account } from '@tintype/crds/kinds/account'
import { type ApiKey, hashesOf } from '@tintype/crds/kinds/api-key'
import { isBeingDeleted } from '@tintype/crds/schema/custom-resource'
import { LRUCache } from 'lru-cache'
import { throwApiError } from '../../store/kube-records.ts'
import type { KeyStore } from '../../store/ports.ts'
import { generationOf } from './credentials.ts'

// rbac: tintype.dev/accounts get,list,watch
// rbac: tintype.dev/apikeys get,list,watch
// rbac: tintype.dev/apikeys/status patch

const apiKeys = tintypeResource<ApiKey>('ApiKey', 'apikeys')
const accounts = tintypeResource<Account>('Account', 'accounts')

const READ_MILLISECONDS = 3_000
const WRITE_MILLISECONDS = 5_000
/**
 * A disconnected replica must not accept revoked keys for long. The reflector reopens a watch that was silent for this time and receives what
 * it missed. Bookmarks come once a minute, which is too rare.
 */
const SILENCE_MILLISECONDS = 30_000
const HASH = 'hash'
const KEY_ID = 'key-id'

interface KubeKeysOptions {
  http: KubeHttp
  log: Log
  metrics: ReflectorMetrics
}

/**
 * Reads keys and accounts from informer caches. Lookups of unknown and deleted ones reach the API server only a few times per second. A cached
 * object may be deleted: `isActive` decides.
 */
export class KubeKeys implements KeyStore {
  readonly keys: Reflector<ApiKey>
  readonly accounts: Reflector<Account>
  readonly uses: LastUsedTimes
  readonly #keyClient: Resource<ApiKey>
  readonly #accountClient: Resource<Account>
  readonly #negativeCache = new NegativeCache()
  readonly #namespace: string

  constructor({ http, log, metrics }: KubeKeysOptions) {
    const store = new Store<ApiKey>().addIndex(HASH, hashesOf).addIndex(KEY_ID, ({ metadata }) => [apiKeyIdOf(metadata)])
    this.keys = new Reflector({ http, resource: apiKeys, store, idleMilliseconds: SILENCE_MILLISECONDS, log, metrics })
    this.accounts = new Reflector({ http, resource: accounts, idleMilliseconds: SILENCE_MILLISECONDS, log, metrics })
    this.#keyClient = new Resource(http, apiKeys)
    this.#accountClient = new Resource(http, accounts)
    this.#namespace = http.namespace
    this.uses = new LastUsedTimes({ store: this.#keyClient, keys: this.keys, log })
  }

  async findByHash(hash: string): Promise<readonly ApiKey[]> {
    const cached = this.keys.lister.byIndex(HASH, hash)
    if (cached.length > 0) return cached
    return (await this.#negativeCache.ask(`key/${hash}`, performance.now(), () => this.#listKeys(hash))) ?? []
  }

  async findById(id: string, generation = 0): Promise<ApiKey | undefined> {
    const [cached] = this.keys.lister.byIndex(KEY_ID, id)
    if (cached && generationOf(cached) >= generation) return cached
    const name = cached?.metadata.name ?? toObjectName(id)
    if (!cached && !(id.startsWith('key_') && isApiKeyIdName(name))) return undefined
    return this.#negativeCache.ask(`id/${id}/${generation}`, performance.now(), () => read(name, this.#keyClient, this.keys))
  }

  async findAccount(name: string): Promise<Account | undefined> {
    const cached = this.findCachedAccount(name)
    return cached ?? this.#negativeCache.ask(`account/${name}`, performance.now(), () => read(name, this.#accountClient, this.accounts))
  }

  /** From the informer cache only. */
  readonly findCachedAccount = (name: string): Account | undefined => this.accounts.lister.get(`${this.#namespace}/${name}`)

  recordUse(key: ApiKey, at: Date): void {
    this.uses.note(key, at)
  }

  async endSessions({ metadata: { name } }: ApiKey, at: Date): Promise<void> {
    const patch = mergePatch({ status: { sessionsNotBefore: at.toISOString() } })
    const options = { subresource: 'status', timeoutMilliseconds: WRITE_MILLISECONDS } as const
    this.keys.noteWritten(await this.#keyClient.patch(name, patch, options).catch(throwApiError))
  }

  /** Two lists, one for each label, because a selector has no "or". */
  async #listKeys(hash: string): Promise<ApiKey[]> {
    const list = (label: string) =>
      this.#keyClient.list({ labelSelector: `${label}=${hash}`, limit: 2, timeoutMilliseconds: READ_MILLISECONDS })
    const pages = await Promise.all([list(Label.keyHash1), list(Label.keyHash2)]).catch(throwApiError)
    const keys = pages.flatMap(({ items }) => items)
    for (const key of keys) this.keys.noteWritten(key)
    return keys.filter((key) => !isBeingDeleted(key))
  }
}

/** Reads an object from the API server, and adds it to the cache. Deleted objects count as missing: the negative cache then limits their lookups. */
async function read<T extends ApiKey | Account>(name: string, client: Resource<T>, cache: Reflector<T>): Promise<T | undefined> {
  const found = await client.find(name, { timeoutMilliseconds: READ_MILLISECONDS }).catch(throwApiError)
  if (found) cache.noteWritten(found)
  return found && isBeingDeleted(found) ? undefined : found
}

const TTL_MILLISECONDS = 5_000
/** At 20 requests per second, at most 100 entries are younger than five seconds. */
const MAX_ENTRIES = 1_000
const REQUESTS_PER_SECOND = 20

interface Entry {
  at: number
  response: Promise<unknown>
}

const isNothing = (found: unknown): boolean => found === undefined || (Array.isArray(found) && found.length === 0)

/**
 * Limits requests to the API server for objects that the informer cache does not have: one in five seconds for each name, and 20 per second
 * in total. Otherwise clients could overload the API server with made-up keys.
 */
export class NegativeCache {
  readonly #entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES })
  #second = 0
  #requests = 0

  /**
   * Calls `request`, or returns nothing if a request for the same name found nothing in the last five seconds. Returns undefined when the
   * limit per second is reached.
   * @param nowMilliseconds from a monotonic clock
   */
  ask<T>(name: string, nowMilliseconds: number, request: () => Promise<T>): Promise<T | undefined> {
    const last = this.#entries.get(name)
    if (last !== undefined && nowMilliseconds - last.at < TTL_MILLISECONDS) return last.response as Promise<T>
    if (!this.#isBelowLimit(nowMilliseconds)) return Promise.resolve(undefined)
    const response = request()
    this.#entries.set(name, { at: nowMilliseconds, response })
    // Found objects are in the informer cache from now on, where revocations arrive. A failed request does not prove that the object is missing.
    const forget = (): boolean => this.#entries.delete(name)
    response.then((found) => isNothing(found) || forget(), forget)
    return response
  }

  #isBelowLimit(nowMilliseconds: number): boolean {
    const second = Math.floor(nowMilliseconds / 1_000)
    if (second !== this.#second) this.#requests = 0
    this.#second = second
    return ++this.#requests <= REQUESTS_PER_SECOND
  }
}

// rbac: tintype.dev/apikeys/status patch

/** Minimum interval between writes of a key's last use, because one write per request would cost more than the request. */
export const WRITE_EVERY_MILLISECONDS = 600_000
const LOOK_MILLISECONDS = 30_000

interface LastUsedTimesOptions {
  store: Pick<Resource<ApiKey>, 'patch'>
  keys: Pick<Reflector<ApiKey>, 'lister' | 'noteWritten'>
  log: Log
}

/** Collects when keys were last used, and writes it periodically. */
export class LastUsedTimes {
  readonly #options: LastUsedTimesOptions
  /** By the object's key in the informer cache. */
  readonly #uses = new Map<string, { uid: string; at: Date }>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: LastUsedTimesOptions) {
    this.#options = options
  }

  note(key: ApiKey, at: Date): void {
    this.#uses.set(keyOf(key), { uid: key.metadata.uid, at })
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(WRITE_EVERY_MILLISECONDS), LOOK_MILLISECONDS).unref()
  }

  /** Writes all pending times. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush(0)
  }

  /** Writes the last use of each key unless a replica wrote one within `everyMilliseconds`. Failed writes stay pending. */
  async flush(everyMilliseconds: number): Promise<void> {
    for (const [name, { uid, at }] of [...this.#uses]) {
      const key = this.#options.keys.lister.get(name)
      const written = key?.status?.lastUsedTime
      if (key?.metadata.uid !== uid) this.#forget(name, at)
      else if (written !== undefined && at.getTime() - new Date(written).getTime() <= everyMilliseconds) {
        if (everyMilliseconds === 0) this.#forget(name, at)
      } else if (await this.#write(key, at)) this.#forget(name, at)
    }
  }

  /** Removes a pending time unless the key was used again meanwhile. */
  #forget(name: string, at: Date): void {
    if (this.#uses.get(name)?.at === at) this.#uses.delete(name)
  }

  async #write({ metadata: { name, namespace } }: ApiKey, at: Date): Promise<boolean> {
    const { store, keys, log } = this.#options
    try {
      const patch = mergePatch({ status: { lastUsedTime: at.toISOString() } })
      keys.noteWritten(await store.patch(name, patch, { namespace, subresource: 'status', timeoutMilliseconds: 3_000 }))
      return true
    } catch (error) {
      if (isNotFound(error)) return true
      log.debug({ name, err: error }, 'last use of key not written; will retry')
      return false
    }
  }
}
