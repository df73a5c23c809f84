// rbac: coordination.k8s.io/leases get,list,watch

import type { Lease } from '@tintype/crds/client/core-resources'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import type { Clock } from '../controller/clock.ts'

// Which gateways live. A Lease is judged by how long it has not changed here, never by comparing two machines' clocks.

/** A reservation whose holder has no Lease at all must be this old: the Lease may not have been seen yet. */
const NO_LEASE_MILLISECONDS = 60_000
/** A living gateway is done with a reservation within seconds: after so long it has given up on what it could not find out. */
const GIVEN_UP_MILLISECONDS = 600_000
const DEFAULT_DURATION_SECONDS = 30

interface Seen {
  version: string | undefined
  /** By a clock that never goes back. */
  at: number
  durationMilliseconds: number
}

export interface GatewayLivenessOptions {
  leases: Reflector<Lease>
  store: Pick<Resource<Lease>, 'find'>
  clock: Clock
}

export class GatewayLiveness {
  readonly #options: GatewayLivenessOptions
  readonly #seen = new Map<string, Seen>()

  constructor(options: GatewayLivenessOptions) {
    this.#options = options
    options.leases.addListener(({ type, object }) => {
      const { name, resourceVersion: version } = object.metadata
      const durationMilliseconds = (object.spec?.leaseDurationSeconds ?? DEFAULT_DURATION_SECONDS) * 1_000
      if (type === 'deleted') this.#seen.delete(name)
      else this.#seen.set(name, { version, durationMilliseconds, at: options.clock.monotonic() })
    })
  }

  /** Whether a gateway seems to have ended, or given up, that relied on a reservation at that time. */
  seemsEnded(gateway: string, reservedAt: Date): boolean {
    const silence = this.#silenceOf(gateway)
    const age = this.#options.clock.wall() - reservedAt.getTime()
    return silence === undefined ? age >= NO_LEASE_MILLISECONDS : silence > 0 || age >= GIVEN_UP_MILLISECONDS
  }

  /** The same, asked of the API server: this process's copy may have stood still. */
  async hasEnded(gateway: string, reservedAt: Date): Promise<boolean> {
    if (!this.seemsEnded(gateway, reservedAt)) return false
    const lease = await this.#options.store.find(gateway)
    if (!lease) return this.#seen.has(gateway) || this.seemsEnded(gateway, reservedAt)
    this.#options.leases.observe(lease)
    return this.seemsEnded(gateway, reservedAt)
  }

  /** Names of Leases that were not renewed for so long after they had expired. */
  expiredFor(milliseconds: number): string[] {
    return [...this.#seen.keys()].filter((name) => (this.#silenceOf(name) ?? 0) > milliseconds)
  }

  /** Milliseconds since the Lease expired, negative while it has not; undefined when there is none. */
  #silenceOf(gateway: string): number | undefined {
    const seen = this.#seen.get(gateway)
    return seen && this.#options.clock.monotonic() - seen.at - seen.durationMilliseconds
  }
}
