import { type Lease, leases } from '@tintype/crds/client/kinds'
import type { KubeHttp } from '@tintype/crds/client/kube-http'
import { Resource } from '@tintype/crds/client/resource'

/** Access to one lease by name. Writes contain the resourceVersion that was read, so one of two concurrent writers gets a 409. */
export type LeaseStore = {
  readonly name: string
  find(signal: AbortSignal): Promise<Lease | undefined>
  create(lease: Lease, signal: AbortSignal): Promise<Lease>
  replace(lease: Lease, signal: AbortSignal): Promise<Lease>
}

/** Values that a holder writes to the lease. */
export type Holder = { identity: string; annotations: Record<string, string>; leaseDurationMilliseconds: number }

/** A lease at the API server. Calls are not retried here: the election decides what to do next and how much time is left. */
export function leaseStore(http: KubeHttp, name: string, namespace?: string): LeaseStore {
  const client = new Resource(http, leases, { namespace })
  return {
    name,
    find: (signal) => client.find(name, { signal, repeat: 'never' }),
    create: (lease, signal) => client.create(lease, { signal, repeat: 'never' }),
    replace: (lease, signal) => client.replace(lease, { signal, repeat: 'never' }),
  }
}

/** Formats six fraction digits, as a MicroTime requires: the API server returns 400 for the three digits of `toISOString`. */
export function toMicroTime(epochMilliseconds: number): string {
  return new Date(epochMilliseconds).toISOString().replace('Z', '000Z')
}

/** Builds the lease that `holder` acquires. It starts a new term. */
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

/** Builds the renewed lease. */
export function renewed(lease: Lease, nowMilliseconds: number): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: toMicroTime(nowMilliseconds) } }
}

/** Builds the released lease, which any replica may take at once. */
export function released(lease: Lease, nowMilliseconds: number): Lease {
  return { ...lease, spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: toMicroTime(nowMilliseconds) } }
}

/** Number of changes of the holder. */
export const termOf = (lease: Lease): number => lease.spec?.leaseTransitions ?? 0

/** Identity of the holder; undefined when the lease has none. */
export const holderOf = (lease: Lease | undefined): string | undefined => lease?.spec?.holderIdentity || undefined
