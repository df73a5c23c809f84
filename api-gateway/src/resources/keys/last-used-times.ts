import { isNotFound } from '@tintype/crds/client/kube-error'
import { keyOf } from '@tintype/crds/client/kube-object'
import type { Log } from '@tintype/crds/client/log'
import type { Reflector } from '@tintype/crds/client/reflector'
import { mergePatch, type Resource } from '@tintype/crds/client/resource'
import type { ApiKey } from '@tintype/crds/kinds/api-key'

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
