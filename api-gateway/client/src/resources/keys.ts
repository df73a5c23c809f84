import type { List } from '../common/list.ts'
import type {
  ApiKey,
  ApiKeyChanges,
  ApiKeyRequest,
  CallOptions,
  CreatedApiKey,
  CreateOptions,
  InactiveQuery,
  LinkSecret,
  RotatedApiKey,
  Rotation,
} from '../common/types.ts'
import { newIdempotencyKey, type Transport } from '../http/transport.ts'
import { listByOffset } from './offset-list.ts'
import { deleteOnce } from './screenshots.ts'

const pathOf = (id: string): string => `/keys/${encodeURIComponent(id)}`

/** `tintype.keys` */
export class Keys {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Creates an API key. Store `key`: no later response contains it. */
  async create({ signal, idempotencyKey = newIdempotencyKey(), ...body }: ApiKeyRequest & CreateOptions): Promise<CreatedApiKey> {
    const request = { method: 'POST', path: '/keys', body, idempotencyKey, signal } as const
    return (await this.#transport.call<{ data: CreatedApiKey }>(request)).body.data
  }

  /** Lists the API keys, oldest first. */
  list(query: InactiveQuery & CallOptions = {}): List<ApiKey> {
    return listByOffset(this.#transport, '/keys', query)
  }

  async get(id: string, { signal }: CallOptions = {}): Promise<ApiKey> {
    return (await this.#transport.call<{ data: ApiKey }>({ method: 'GET', path: pathOf(id), signal })).body.data
  }

  /** Changes the given fields. */
  async update(id: string, { signal, ...body }: ApiKeyChanges & CallOptions): Promise<ApiKey> {
    return (await this.#transport.call<{ data: ApiKey }>({ method: 'PATCH', path: pathOf(id), body, signal })).body.data
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await deleteOnce(this.#transport, pathOf(id), signal)
  }

  /** Replaces the text of the key. The old text works for `overlap_hours`. Store `key`: no later response contains it. */
  async rotate(id: string, { signal, ...body }: Rotation & CallOptions = {}): Promise<RotatedApiKey> {
    return (await this.#transport.call<{ data: RotatedApiKey }>({ method: 'POST', path: `${pathOf(id)}/rotate`, body, signal })).body.data
  }

  /** Returns the secret for `signLink`, the same one each time. Your API key must have all scopes of this one. */
  async linkSecret(id: string, { signal }: CallOptions = {}): Promise<LinkSecret> {
    return (await this.#transport.call<{ data: LinkSecret }>({ method: 'POST', path: `${pathOf(id)}/link-secret`, signal })).body.data
  }

  /** Replaces the secret for `signLink`. Links signed with the old secret work for `overlap_hours`. */
  async rotateLinkSecret(id: string, { signal, ...body }: Rotation & CallOptions = {}): Promise<LinkSecret> {
    const request = { method: 'POST', path: `${pathOf(id)}/link-secret/rotate`, body, signal } as const
    return (await this.#transport.call<{ data: LinkSecret }>(request)).body.data
  }
}
