// rbac: coordination.k8s.io/leases get,list,watch

import type { Lease } from '@tintype/crds/client/kinds'
import type { Reflector } from '@tintype/crds/client/reflector'
import type { Resource } from '@tintype/crds/client/resource'
import type { Clock } from '../../controller-runtime/clock.ts'

// Tracks which gateways are alive. A Lease expires when this process has not seen it change for its duration. Clocks of two machines are
// never compared.

/** How long the API server may still carry out a create of a gateway that has ended (--request-timeout). */
const LATE_CREATE_MILLISECONDS = 60_000
/** Minimum age of a reservation whose holder has no Lease. It has sent its creates within the first seconds. */
const NO_LEASE_MILLISECONDS = 90_000
/** A live gateway settles a reservation within seconds. After this time it has given up on creates with an unknown outcome. */
const GIVEN_UP_MILLISECONDS = 600_000
const DEFAULT_DURATION_SECONDS = 30

interface Seen {
  version: string | undefined
  /** Time by a monotonic clock. */
  at: number
  durationMilliseconds: number
}

export interface GatewayLivenessOptions {
  leases: Reflector<Lease>
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

  /** Whether the gateway of a reservation made at that time seems to have ended or to have given up on it. */
  seemsEnded(gateway: string, reservedAt: Date): boolean {
    const silence = this.#silenceOf(gateway)
    const age = this.#options.clock.wall() - reservedAt.getTime()
    return silence === undefined ? age >= NO_LEASE_MILLISECONDS : silence > LATE_CREATE_MILLISECONDS || age >= GIVEN_UP_MILLISECONDS
  }

  /** The same with a read from the API server: the cache of this process may be stale. */
  async hasEnded(gateway: string, reservedAt: Date, store: Pick<Resource<Lease>, 'find'>): Promise<boolean> {
    if (!this.seemsEnded(gateway, reservedAt)) return false
    const lease = await store.find(gateway)
    if (!lease) return this.#seen.has(gateway) || this.seemsEnded(gateway, reservedAt)
    this.#options.leases.noteWritten(lease)
    return this.seemsEnded(gateway, reservedAt)
  }

  /** Names of Leases that expired at least this long ago. */
  expiredFor(milliseconds: number): string[] {
    return [...this.#seen.keys()].filter((name) => (this.#silenceOf(name) ?? 0) > milliseconds)
  }

  /** Milliseconds since the Lease expired; negative before, undefined without a Lease. */
  #silenceOf(gateway: string): number | undefined {
    const seen = this.#seen.get(gateway)
    return seen && this.#options.clock.monotonic() - seen.at - seen.durationMilliseconds
  }
}
