import { leases } from '@tintype/crds/client/kinds'
import { isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeHttp, RequestRecord } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import { mergePatch, Resource } from '@tintype/crds/client/resource'
import { GATEWAY_LEASE_LABELS } from '@tintype/crds/identifiers/names'

// rbac: coordination.k8s.io/leases create,patch,delete

// Shows the operator that this process is alive. The operator settles the reservations of dead processes. There is one Lease per process, not per
// pod, because a restarted container does not know the reservations of the one before it. The pod owns the Lease, so it is garbage-collected.

const DURATION_SECONDS = 30
const RENEW_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 1_000
const CALL_MILLISECONDS = 5_000
/** Without a renewal for this long the process must not reserve quota, because the operator may soon consider it dead. */
const HELD_MILLISECONDS = 20_000

/** Six fraction digits, as the API server requires for a MicroTime. */
const toMicroTime = (at: Date): string => at.toISOString().replace('Z', '000Z')

interface GatewayLeaseOptions {
  http: KubeHttp
  log: Log
  /** Name of the Lease, unique to this process. */
  identity: string
  /** The pod of this process. Without a uid the Lease has no owner. */
  pod: { name: string; uid: string }
  now: () => Date
}

/** The Lease of this process. */
export class GatewayLease {
  readonly #options: GatewayLeaseOptions
  readonly #client: Resource<(typeof leases)['objectType'] & object>
  #renewedAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #renewing: Promise<void> = Promise.resolve()
  #isEnded = false

  constructor(options: GatewayLeaseOptions) {
    this.#options = options
    this.#client = new Resource(options.http, leases)
  }

  get identity(): string {
    return this.#options.identity
  }

  /** True while the operator considers this process alive. */
  get isHeld(): boolean {
    return performance.now() - this.#renewedAt < HELD_MILLISECONDS
  }

  start(): void {
    this.#renewing = this.#renew()
  }

  /** Deletes the Lease. The operator then settles remaining reservations of this process. */
  async end(): Promise<void> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    await this.#renewing
    const { identity, log } = this.#options
    await this.#client.delete(identity, { timeoutMilliseconds: CALL_MILLISECONDS }).catch((error: unknown) => {
      if (!isNotFound(error)) log.warn({ err: error }, 'lease not deleted; it will expire')
    })
  }

  async #renew(): Promise<void> {
    const started = performance.now()
    let wait = RENEW_MILLISECONDS
    try {
      await this.#write()
      this.#renewedAt = started
    } catch (error) {
      wait = RETRY_MILLISECONDS
      this.#options.log.warn({ err: error }, 'lease renewal failed; will retry')
    }
    if (this.#isEnded) return
    this.#timer = setTimeout(() => {
      this.#renewing = this.#renew()
    }, wait)
    this.#timer.unref()
  }

  async #write(): Promise<void> {
    const { identity, pod, now } = this.#options
    const options = { timeoutMilliseconds: CALL_MILLISECONDS, repeat: 'never' } as const
    const spec = { holderIdentity: identity, leaseDurationSeconds: DURATION_SECONDS, renewTime: toMicroTime(now()) }
    try {
      await this.#client.patch(identity, mergePatch({ spec }), options)
    } catch (error) {
      if (!isNotFound(error)) throw error
      const ownerReferences = pod.uid === '' ? [] : [{ apiVersion: 'v1', kind: 'Pod', ...pod }]
      const metadata = { name: identity, labels: { ...GATEWAY_LEASE_LABELS }, ownerReferences }
      const lease = { metadata, spec: { ...spec, acquireTime: spec.renewTime } }
      await this.#client.create(lease, options)
    }
  }
}

// All replicas share rate limit windows and months, so they need one clock: the API server's. The Date header of its responses has a resolution of
// one second, which is enough to detect a machine whose clock is wrong.

const SECOND = 1_000
/** A slow response is too imprecise. */
const MAX_SECONDS = 0.5

/** The time of the API server. Equals the local time while both agree to the second. */
export class ServerClock {
  readonly #wall: () => number
  #aheadMilliseconds = 0

  /** @param wall local time in epoch milliseconds */
  constructor(wall: () => number) {
    this.#wall = wall
  }

  /** Call with every response. */
  note({ date, durationSeconds }: Pick<RequestRecord, 'date' | 'durationSeconds'>): void {
    const serverTime = Date.parse(date ?? '')
    if (Number.isNaN(serverTime) || durationSeconds > MAX_SECONDS) return
    // The server created the response within the second of its Date header, between the request and now.
    const least = serverTime - this.#wall()
    const most = least + SECOND + durationSeconds * SECOND
    const agrees = least <= SECOND && most >= -SECOND
    this.#aheadMilliseconds = agrees ? 0 : Math.round((least + most) / 2)
  }

  readonly now = (): Date => new Date(this.#wall() + this.#aheadMilliseconds)
}
