import { createHash } from 'node:crypto'
import type { Grant, LimitFacts, ObjectStore, QuotaStore, ReserveRequest } from '../../../api-gateway/src/store/ports.ts'
import type { ListKeys, StoredFile, StoredText, WriteCondition } from '../../../crds/storage/port.ts'

// Stores in memory that keep the promises of store/ports.ts.

/** Objects of a bucket, with conditions. */
export class FakeObjects implements ObjectStore {
  readonly objects = new Map<string, string>()
  async read(key: string): Promise<StoredText | undefined> {
    const text = this.objects.get(key)
    return text === undefined ? undefined : { text, etag: etagOf(text) }
  }
  async readText(key: string): Promise<string | undefined> {
    return (await this.read(key))?.text
  }
  async exists(key: string): Promise<boolean> {
    return this.objects.has(key)
  }
  async write(key: string, text: string, { ifAbsent, ifMatch }: WriteCondition = {}): Promise<string | undefined> {
    const known = this.objects.get(key)
    if (ifAbsent && known !== undefined) return undefined
    if (ifMatch !== undefined && (known === undefined || etagOf(known) !== ifMatch)) return undefined
    this.objects.set(key, text)
    return etagOf(text)
  }
  async stat(key: string): Promise<StoredFile | undefined> {
    const text = this.objects.get(key)
    return text === undefined ? undefined : { sizeBytes: Buffer.byteLength(text), etag: etagOf(text), lastModified: new Date(0) }
  }
  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.objects.delete(key)
  }
  async list(prefix: string, { after = '', limit = 1_000 }: ListKeys = {}): Promise<string[]> {
    return [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && key > after)
      .sort()
      .slice(0, limit)
  }
}

const etagOf = (text: string): string => createHash('md5').update(text).digest('hex')

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
