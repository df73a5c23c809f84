import { List, type Page } from '../common/list.ts'
import type { CallOptions, Delivery, DeliveryQuery, Redelivery } from '../common/types.ts'
import type { Transport } from '../http/transport.ts'

interface DeliveryPage {
  data: Delivery[]
  pagination: { has_more: boolean; next_cursor: string | null }
}

const pathOf = (webhook: string, delivery: string): string =>
  `/webhooks/${encodeURIComponent(webhook)}/deliveries/${encodeURIComponent(delivery)}`

/** `tintype.webhooks.deliveries` */
export class Deliveries {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  /** Lists the deliveries of the last 7 days, newest attempt first. */
  list(webhook: string, { signal, ...filters }: DeliveryQuery & CallOptions = {}): List<Delivery> {
    const read = async (cursor?: string): Promise<Page<Delivery>> => {
      const path = `/webhooks/${encodeURIComponent(webhook)}/deliveries`
      const { body } = await this.#transport.call<DeliveryPage>({ method: 'GET', path, query: { ...filters, cursor }, signal })
      const next = body.pagination.has_more ? body.pagination.next_cursor : null
      return { data: body.data, next: next === null ? undefined : () => read(next) }
    }
    return new List(() => read())
  }

  /** Reads a delivery. `delivery` is the header X-Webhook-Delivery that your endpoint received. */
  async get(webhook: string, delivery: string, { signal }: CallOptions = {}): Promise<Delivery> {
    return (await this.#transport.call<{ data: Delivery }>({ method: 'GET', path: pathOf(webhook, delivery), signal })).body.data
  }

  /** Posts the event once more, with the same body and ids. */
  async redeliver(webhook: string, delivery: string, { signal }: CallOptions = {}): Promise<Redelivery> {
    const path = `${pathOf(webhook, delivery)}/redeliver`
    return (await this.#transport.call<{ data: Redelivery }>({ method: 'POST', path, signal })).body.data
  }

  /** Posts all missed events of the endpoint once more. Returns their number. */
  async redeliverMissed(webhook: string, { signal }: CallOptions = {}): Promise<number> {
    const path = `/webhooks/${encodeURIComponent(webhook)}/redeliver-missed`
    return (await this.#transport.call<{ data: { missed_deliveries: number } }>({ method: 'POST', path, signal })).body.data
      .missed_deliveries
  }
}
