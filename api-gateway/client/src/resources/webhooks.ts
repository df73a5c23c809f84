import type { List } from '../common/list.ts'
import type {
  CallOptions,
  CreatedWebhook,
  CreateOptions,
  InactiveQuery,
  RotatedSecret,
  Rotation,
  Webhook,
  WebhookChanges,
  WebhookRequest,
  WebhookTestResult,
  WebhookWithStatistics,
} from '../common/types.ts'
import { newIdempotencyKey, type Transport } from '../http/transport.ts'
import { Deliveries } from './deliveries.ts'
import { listByOffset } from './offset-list.ts'
import { deleteOnce } from './screenshots.ts'

const pathOf = (id: string): string => `/webhooks/${encodeURIComponent(id)}`

/** `tintype.webhooks` */
export class Webhooks {
  readonly deliveries: Deliveries
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
    this.deliveries = new Deliveries(transport)
  }

  /** Creates an endpoint. Store `signing_secret`: no later response contains it. */
  async create({ signal, idempotencyKey = newIdempotencyKey(), ...body }: WebhookRequest & CreateOptions): Promise<CreatedWebhook> {
    const request = { method: 'POST', path: '/webhooks', body, idempotencyKey, signal } as const
    return (await this.#transport.call<{ data: CreatedWebhook }>(request)).body.data
  }

  /** Lists the endpoints, oldest first. */
  list(query: InactiveQuery & CallOptions = {}): List<Webhook> {
    return listByOffset(this.#transport, '/webhooks', query)
  }

  /** Reads an endpoint and the statistics of its deliveries. */
  async get(id: string, { signal }: CallOptions = {}): Promise<WebhookWithStatistics> {
    return (await this.#transport.call<{ data: WebhookWithStatistics }>({ method: 'GET', path: pathOf(id), signal })).body.data
  }

  /** Changes the given fields. */
  async update(id: string, { signal, ...body }: WebhookChanges & CallOptions): Promise<Webhook> {
    return (await this.#transport.call<{ data: Webhook }>({ method: 'PATCH', path: pathOf(id), body, signal })).body.data
  }

  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await deleteOnce(this.#transport, pathOf(id), signal)
  }

  /** Replaces the signing secret. Both secrets sign for `overlap_hours`. */
  async rotateSecret(id: string, { signal, ...body }: Rotation & CallOptions = {}): Promise<RotatedSecret> {
    return (await this.#transport.call<{ data: RotatedSecret }>({ method: 'POST', path: `${pathOf(id)}/rotate-secret`, body, signal })).body
      .data
  }

  /** Posts a sample event to the endpoint. Read `success`: a failed test is not an error of this call. */
  async test(id: string, { signal }: CallOptions = {}): Promise<WebhookTestResult> {
    return (await this.#transport.call<WebhookTestResult>({ method: 'POST', path: `${pathOf(id)}/test`, signal })).body
  }

  /** Reads the default webhook, whose secret signs the posts to `webhook_url`. */
  async getDefault(options: CallOptions = {}): Promise<WebhookWithStatistics> {
    return this.get('default', options)
  }

  /** Replaces the secret of the default webhook. The first call creates the default webhook. */
  async rotateDefaultSecret(options: Rotation & CallOptions = {}): Promise<RotatedSecret> {
    return this.rotateSecret('default', options)
  }
}
