import type { Grant, LimitFacts, QuotaStore, ReserveRequest } from '../../../api-gateway/src/store/ports.ts'
import type { StoredFile } from '../../../crds/storage/port.ts'
import { MemoryBucket } from '../../support/fakes/memory-bucket.ts'

// Stores in memory that keep the promises of store/ports.ts.

/** Objects of a bucket, as gateways see it. Tests replace single methods to make it fail. */
export function anObjectStore() {
  const bucket = new MemoryBucket()
  const stat = async (key: string): Promise<StoredFile | undefined> => {
    const etag = bucket.etagOf(key)
    return etag === undefined ? undefined : { sizeBytes: Buffer.byteLength(bucket.objects.get(key)!), etag, lastModified: new Date(0) }
  }
  return { ...bucket.store, stat, objects: bucket.objects }
}

/** Counts units, by reservation and name; no rate unless one is set. */
export class CountingQuota implements QuotaStore {
  readonly paid = new Map<string, Set<string>>()
  readonly settled: string[] = []
  limit = 1_000
  isRateUsedUp = false

  get used(): number {
    return [...this.paid.values()].reduce((sum, names) => sum + names.size, 0)
  }
  async reserve({ reservation, names }: ReserveRequest): Promise<Grant> {
    if (this.isRateUsedUp) return { granted: 0, refusal: 'rate', facts: this.facts() }
    const known = this.paid.get(reservation) ?? new Set<string>()
    this.paid.set(reservation, known)
    let granted = 0
    for (const name of names) {
      if (!known.has(name) && this.used >= this.limit) break
      known.add(name)
      granted++
    }
    return { granted, ...(granted < names.length ? { refusal: 'quota' as const } : {}), facts: this.facts() }
  }
  settle(_account: string, reservation: string): void {
    this.settled.push(reservation)
  }
  async release(_account: string, reservation: string, names: readonly string[]): Promise<void> {
    for (const name of names) this.paid.get(reservation)?.delete(name)
  }
  days() {
    return {}
  }
  facts(): LimitFacts {
    const resetAt = new Date('2026-12-01T00:00:00.000Z')
    return {
      at: new Date('2026-11-20T00:00:00.000Z'),
      plan: 'scale',
      period: '2026-11',
      quota: this.limit,
      limit: this.limit,
      used: this.used,
      resetAt,
      ratePerMinute: 150,
      rateRemaining: this.isRateUsedUp ? 0 : 150,
      rateResetSeconds: 7,
    }
  }
}
