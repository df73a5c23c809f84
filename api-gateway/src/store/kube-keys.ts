import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Store } from '@tintype/crds/client/lister'
import type { Log } from '@tintype/crds/client/log'
import { Reflector, type ReflectorMetrics } from '@tintype/crds/client/reflector'
import { Resource, tintypeResource } from '@tintype/crds/client/resource'
import type { Account } from '@tintype/crds/kinds/account'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { Label } from '@tintype/crds/names'
import { hashesOf } from '../translate/credentials.ts'
import { KeyUses } from './key-uses.ts'
import { toApiError } from './kube-errors.ts'
import { Misses } from './misses.ts'
import type { KeyStore } from './ports.ts'

// rbac: tintype.dev/accounts get,list,watch
// rbac: tintype.dev/apikeys get,list,watch

const apiKeys = tintypeResource<ApiKey>('ApiKey', 'apikeys')
const accounts = tintypeResource<Account>('Account', 'accounts')

const READ_MILLISECONDS = 3_000
/**
 * What is revoked must not be let in for long by a replica that is cut off: a watch that is silent for so long is opened anew, from where it
 * stood, which brings whatever it has missed. Bookmarks come once a minute only: they cannot bound it.
 */
const SILENCE_MILLISECONDS = 30_000
const HASH = 'hash'

interface KubeKeysOptions {
  http: KubeHttp
  log: Log
  metrics: ReflectorMetrics
}

/** Keys and accounts in the API server, followed by reflectors. A flood of unknown keys reaches the API server a few times a second only. */
export class KubeKeys implements KeyStore {
  readonly keys: Reflector<ApiKey>
  readonly accounts: Reflector<Account>
  readonly uses: KeyUses
  readonly #keyClient: Resource<ApiKey>
  readonly #accountClient: Resource<Account>
  readonly #misses = new Misses()
  readonly #namespace: string

  constructor({ http, log, metrics }: KubeKeysOptions) {
    const store = new Store<ApiKey>().addIndex(HASH, hashesOf)
    this.keys = new Reflector({ http, resource: apiKeys, store, idleMilliseconds: SILENCE_MILLISECONDS, log, metrics })
    this.accounts = new Reflector({ http, resource: accounts, idleMilliseconds: SILENCE_MILLISECONDS, log, metrics })
    this.#keyClient = new Resource(http, apiKeys)
    this.#accountClient = new Resource(http, accounts)
    this.#namespace = http.namespace
    this.uses = new KeyUses({ store: this.#keyClient, keys: this.keys, log })
  }

  async findByHash(hash: string): Promise<readonly ApiKey[]> {
    const cached = this.keys.lister.byIndex(HASH, hash)
    if (cached.length > 0) return cached
    return (await this.#misses.ask(`key/${hash}`, performance.now(), () => this.#listKeys(hash))) ?? []
  }

  async findAccount(name: string): Promise<Account | undefined> {
    const cached = this.findCachedAccount(name)
    return cached ?? this.#misses.ask(`account/${name}`, performance.now(), () => this.#readAccount(name))
  }

  /** From the copy alone. */
  findCachedAccount(name: string): Account | undefined {
    return this.accounts.lister.get(`${this.#namespace}/${name}`)
  }

  noteUse(key: ApiKey, at: Date): void {
    this.uses.note(key, at)
  }

  /** By label, either slot: a selector cannot say "or". */
  async #listKeys(hash: string): Promise<ApiKey[]> {
    const list = (label: string) =>
      this.#keyClient.list({ labelSelector: `${label}=${hash}`, limit: 2, timeoutMilliseconds: READ_MILLISECONDS })
    const pages = await Promise.all([list(Label.keyHash1), list(Label.keyHash2)]).catch(rethrow)
    const keys = pages.flatMap(({ items }) => items)
    for (const key of keys) this.keys.observe(key)
    return keys
  }

  async #readAccount(name: string): Promise<Account | undefined> {
    const found = await this.#accountClient.find(name, { timeoutMilliseconds: READ_MILLISECONDS }).catch(rethrow)
    if (found) this.accounts.observe(found)
    return found
  }
}

const rethrow = (error: unknown): never => {
  throw toApiError(error)
}
