import type { List } from '../common/list.ts'
import type { CallOptions, CreateOptions, InactiveQuery } from '../common/types.ts'
import { newIdempotencyKey, type Transport } from '../http/transport.ts'
import { listByOffset } from './lists.ts'
import { Resource } from './resource.ts'
import { deleteOnce } from './screenshots.ts'

/**
 * The calls that API keys, webhooks and schedules have in common. `Created` is in the response to a create, `Found` in that to a read, and `Record` in
 * lists and after a change.
 */
export class ManagedRecords<
  Record extends object,
  Request extends object,
  Changes extends object,
  Created extends object = Record,
  Found extends object = Record,
  Query extends Omit<InactiveQuery, 'offset'> = InactiveQuery,
> extends Resource {
  readonly #collection: string

  constructor(transport: Transport, collection: '/keys' | '/webhooks' | '/schedules') {
    super(transport)
    this.#collection = collection
  }

  protected pathOf(id: string): string {
    return `${this.#collection}/${encodeURIComponent(id)}`
  }

  /** The body of a create. */
  protected toBody(request: object): object {
    return request
  }

  /** A call whose response has a record in `data`. */
  protected async call<T>(method: 'GET' | 'POST' | 'PATCH', path: string, { signal, ...body }: CallOptions): Promise<T> {
    const content = method === 'GET' ? {} : { body }
    return this.transport.data({ method, path, ...content, signal })
  }

  /** Creates a record. Secrets in it are in no later response: store them. */
  async create({ signal, idempotencyKey = newIdempotencyKey(), ...request }: Request & CreateOptions): Promise<Created> {
    return this.transport.data({ method: 'POST', path: this.#collection, body: this.toBody(request), idempotencyKey, signal })
  }

  /** Lists the records, oldest first. */
  list(query: Query & CallOptions = {} as Query & CallOptions): List<Record> {
    return listByOffset(this.transport, this.#collection, query)
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<Found> {
    return this.call('GET', this.pathOf(id), { signal })
  }

  /** Changes the given fields, as a merge patch: null removes one or restores its default. */
  async update(id: string, changes: Changes & CallOptions): Promise<Record> {
    return this.call('PATCH', this.pathOf(id), changes)
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await deleteOnce(this.transport, this.pathOf(id), signal)
  }
}
