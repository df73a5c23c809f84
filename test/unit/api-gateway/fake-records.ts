import { randomUUID } from 'node:crypto'
import { ApiError, notFound } from '../../../api-gateway/src/common/errors.ts'
import type { ObjectPatch } from '../../../api-gateway/src/store/object-patch.ts'
import type { RecordStore } from '../../../api-gateway/src/store/ports.ts'
import { accountOf } from '../../../crds/src/records/record.ts'
import { isWhole, type Metadata, type Whole } from '../../../crds/src/schema/custom-resource.ts'
import { applyMergePatch } from '../../../crds/src/schema/merge-patch.ts'

interface Managed {
  metadata: Metadata
  spec: { accountName?: string | undefined }
}

/** Keys or webhooks in memory, with the promises of store/ports.ts. */
export class FakeRecords<T extends Managed> implements RecordStore<T> {
  readonly objects: T[]
  readonly #idOf: (metadata: Metadata) => string
  readonly #now: Date
  /** Called before a patch is applied: another writer. */
  beforePatch: (object: T) => void | Promise<void> = () => {}

  constructor(objects: T[], idOf: (metadata: Metadata) => string, now: Date) {
    this.objects = objects
    this.#idOf = idOf
    this.#now = now
  }

  ofAccount(account: string): readonly T[] {
    return this.objects.filter((object) => accountOf(object) === account)
  }
  async latestOfAccount(account: string): Promise<readonly T[]> {
    return this.ofAccount(account)
  }
  async find(id: string): Promise<Whole<T> | undefined> {
    return this.objects.filter(isWhole).find(({ metadata }) => this.#idOf(metadata) === id)
  }
  async findLatest(id: string): Promise<Whole<T> | undefined> {
    return this.find(id)
  }
  async create(object: Omit<T, 'metadata'> & { metadata: { name: string } }): Promise<T> {
    const known = this.objects.find(({ metadata }) => metadata.name === object.metadata.name)
    if (known) return known
    const own = { namespace: 'default', uid: randomUUID(), resourceVersion: '1', generation: 1, creationTimestamp: this.#now.toISOString() }
    const created = structuredClone({ ...object, metadata: { ...object.metadata, ...own } }) as unknown as T
    this.objects.push(created)
    return created
  }
  async patch(object: T, patch: ObjectPatch): Promise<T> {
    await this.beforePatch(object)
    const index = this.#place(object)
    const changed = applyMergePatch(this.objects[index], JSON.parse(JSON.stringify(patch))) as T
    changed.metadata.resourceVersion = String(Number(changed.metadata.resourceVersion) + 1)
    changed.metadata.generation = (changed.metadata.generation ?? 1) + 1
    this.objects[index] = changed
    return changed
  }
  async delete(object: T): Promise<void> {
    this.objects.splice(this.#place(object), 1)
  }
  #place({ metadata: { uid, resourceVersion } }: T): number {
    const index = this.objects.findIndex(({ metadata }) => metadata.uid === uid)
    const found = this.objects[index]
    if (!found) throw notFound('record')
    if (found.metadata.resourceVersion !== resourceVersion) {
      throw new ApiError('CONFLICT', 'somebody else was quicker', { cause: new Error('409') })
    }
    return index
  }
}
