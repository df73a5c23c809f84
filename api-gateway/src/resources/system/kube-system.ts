import { runnerPools } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Reflector } from '@tintype/crds/client/reflector'
import { Resource } from '@tintype/crds/client/resource'
import type { Account } from '@tintype/crds/kinds/account'
import type { RunnerPool } from '@tintype/crds/kinds/runner-pool'
import type { Screenshot } from '@tintype/crds/kinds/screenshot'
import { toApiError } from '../../store/kube-records.ts'
import type { SystemView } from '../../store/ports.ts'

// rbac: tintype.dev/runnerpools list

const READ_MILLISECONDS = 3_000
/** Several administrators who watch the service cost one read in this time. */
const FRESH_MILLISECONDS = 2_000

interface KubeSystemOptions {
  http: KubeHttp
  screenshots: Pick<Reflector<Screenshot>, 'lister'>
  findAccount: (name: string) => Account | undefined
}

/** Reads pools from the API server, and the rest from informer caches. */
export class KubeSystem implements SystemView {
  readonly findAccount: (name: string) => Account | undefined
  readonly #screenshots: KubeSystemOptions['screenshots']
  readonly #pools: Resource<RunnerPool>
  #last: { at: number; pools: Promise<readonly RunnerPool[]> } | undefined

  constructor({ http, screenshots, findAccount }: KubeSystemOptions) {
    this.findAccount = findAccount
    this.#screenshots = screenshots
    this.#pools = new Resource(http, runnerPools)
  }

  async pools(): Promise<readonly RunnerPool[]> {
    const at = performance.now()
    if (this.#last === undefined || at - this.#last.at > FRESH_MILLISECONDS) this.#last = { at, pools: this.#read() }
    return this.#last.pools
  }

  screenshots(): readonly Screenshot[] {
    return this.#screenshots.lister.list()
  }

  async #read(): Promise<readonly RunnerPool[]> {
    try {
      return await this.#pools.listAll({ timeoutMilliseconds: READ_MILLISECONDS })
    } catch (error) {
      this.#last = undefined
      throw toApiError(error)
    }
  }
}
