import { leases } from '@tintype/crds/client/core-resources'
import { isNotFound } from '@tintype/crds/client/kube-error'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import type { Log } from '@tintype/crds/client/log'
import { mergePatch } from '@tintype/crds/client/patch'
import { Resource } from '@tintype/crds/client/resource'
import { GATEWAY_LEASE_LABELS } from '@tintype/crds/names'

// rbac: coordination.k8s.io/leases create,patch,delete

// Shows the operator that this process lives: reservations of one that does not are settled. One Lease a process, not a pod: a container that
// starts again knows nothing of what the one before it had reserved. The pod owns it: what could not be given up goes when the pod has gone.

const DURATION_SECONDS = 30
const RENEW_MILLISECONDS = 10_000
const RETRY_MILLISECONDS = 1_000
const CALL_MILLISECONDS = 5_000
/** After so long without a renewal nothing may be reserved: the operator is about to take this process for dead. */
const HELD_MILLISECONDS = 20_000

/** Six fraction digits, as the API server demands of a MicroTime. */
const toMicroTime = (at: Date): string => at.toISOString().replace('Z', '000Z')

export interface GatewayLeaseOptions {
  http: KubeHttp
  log: Log
  /** Name of the Lease, of this process alone. */
  identity: string
  /** The pod that this process runs in; without a uid the Lease has no owner. */
  pod: { name: string; uid: string }
  now: () => Date
}

/** See the head of this file. */
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

  /** Whether the operator has a reason to believe that this process lives. */
  get isHeld(): boolean {
    return performance.now() - this.#renewedAt < HELD_MILLISECONDS
  }

  start(): void {
    this.#renewing = this.#renew()
  }

  /** Gives it up: what is still reserved under this name is the operator's to settle. */
  async end(): Promise<void> {
    this.#isEnded = true
    clearTimeout(this.#timer)
    await this.#renewing
    const { identity, log } = this.#options
    await this.#client.delete(identity, { timeoutMilliseconds: CALL_MILLISECONDS }).catch((error: unknown) => {
      if (!isNotFound(error)) log.warn({ err: error }, 'the lease of this process is left to expire')
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
      this.#options.log.warn({ err: error }, 'the lease of this process could not be renewed')
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
