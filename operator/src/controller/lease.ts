import type { Lease } from '@tintype/crds/client/core-resources'
import { leases } from '@tintype/crds/client/core-resources'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Resource } from '@tintype/crds/client/resource'

/** One lease by its name. Writes carry the resourceVersion that was read, so of two writers one gets a 409. */
export type LeaseStore = {
  readonly name: string
  find(signal: AbortSignal): Promise<Lease | undefined>
  create(lease: Lease, signal: AbortSignal): Promise<Lease>
  replace(lease: Lease, signal: AbortSignal): Promise<Lease>
}

/** What a holder writes about itself. */
export type Holder = { identity: string; annotations: Record<string, string>; leaseDurationMilliseconds: number }

/** A lease at the API server. Nothing is repeated inside a call: the election decides what to do next, and how long it has. */
export function leaseStore(http: KubeHttp, name: string, namespace?: string): LeaseStore {
  const client = new Resource(http, leases, { namespace })
  return {
    name,
    find: (signal) => client.find(name, { signal, repeat: 'never' }),
    create: (lease, signal) => client.create(lease, { signal, repeat: 'never' }),
    replace: (lease, signal) => client.replace(lease, { signal, repeat: 'never' }),
  }
}

/** Six fraction digits, as the API server demands of a MicroTime: it answers 400 to the three of `toISOString`. */
export function toMicroTime(epochMilliseconds: number): string {
  return new Date(epochMilliseconds).toISOString().replace('Z', '000Z')
}

/** The lease once `holder` has it: a new term when it had another holder before, or none. */
export function acquired(name: string, lease: Lease | undefined, holder: Holder, nowMilliseconds: number): Lease {
  const now = toMicroTime(nowMilliseconds)
  const metadata = lease?.metadata ?? { name }
  return {
    ...lease,
    metadata: { ...metadata, annotations: { ...metadata.annotations, ...holder.annotations } },
    spec: {
      ...lease?.spec,
      holderIdentity: holder.identity,
      leaseDurationSeconds: Math.max(1, Math.round(holder.leaseDurationMilliseconds / 1_000)),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: lease ? termOf(lease) + 1 : 0,
    },
  }
}

/** The lease once its holder has shown that it lives. */
export function renewed(lease: Lease, nowMilliseconds: number): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: toMicroTime(nowMilliseconds) } }
}

/** The lease once its holder has given it up: anyone may take it at once. */
export function released(lease: Lease, nowMilliseconds: number): Lease {
  return { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: toMicroTime(nowMilliseconds) } }
}

/** How often the lease has changed hands. */
export const termOf = (lease: Lease): number => lease.spec?.leaseTransitions ?? 0

/** Who holds the lease; undefined when nobody does. */
export const holderOf = (lease: Lease | undefined): string | undefined => lease?.spec?.holderIdentity || undefined
