import { setImmediate } from 'node:timers/promises'
import type { Lease } from '../../../../crds/client/kinds.ts'
import { KubeError } from '../../../../crds/client/kube-error.ts'
import type { LeaseStore } from '../../../../operator/src/controller-runtime/lease.ts'

/** Behavior of the API server: normal, rejecting everything, never responding, or executing writes and losing the response. */
export type Mood = 'well' | 'refusing' | 'silent' | 'forgetful'

/** One lease, with the API server's rule that a write must contain the version that it replaces. */
export class MemoryLease {
  lease: Lease | undefined
  mood: Mood = 'well'
  /** The holder of each write. */
  readonly writes: string[] = []
  #version = 0

  readonly store: LeaseStore = {
    name: 'tintype',
    find: (signal) => this.#respond(signal, () => this.lease),
    create: (lease, signal) => this.#respond(signal, () => this.#write(lease, this.lease && 'AlreadyExists')),
    replace: (lease, signal) => this.#respond(signal, () => this.#write(lease, this.#isCurrent(lease) ? undefined : 'Conflict')),
  }

  /** Simulates a write of the lease by another client. */
  put(change: Partial<NonNullable<Lease['spec']>>): void {
    const metadata = { name: 'tintype', ...this.lease?.metadata, resourceVersion: String(++this.#version) }
    this.lease = { metadata, spec: { ...this.lease?.spec, ...change } }
  }

  #isCurrent({ metadata }: Lease): boolean {
    return metadata.resourceVersion === this.lease?.metadata.resourceVersion
  }

  #write(wanted: Lease, reason: 'AlreadyExists' | 'Conflict' | undefined): Lease {
    if (reason) throw new KubeError({ status: 409, reason, message: reason })
    this.lease = { ...wanted, metadata: { ...wanted.metadata, resourceVersion: String(++this.#version) } }
    this.writes.push(wanted.spec?.holderIdentity || 'nobody')
    if (this.mood === 'forgetful') throw new KubeError({ status: 0, reason: 'Unreachable', message: 'the response was lost' })
    return this.lease
  }

  async #respond<T>(signal: AbortSignal, act: () => T): Promise<T> {
    await setImmediate()
    if (this.mood === 'silent') await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    if (this.mood === 'refusing') throw new KubeError({ status: 503, reason: 'ServiceUnavailable', message: 'away' })
    return structuredClone(act())
  }
}
