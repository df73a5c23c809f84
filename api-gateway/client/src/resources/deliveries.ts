import type { List } from '../common/list.ts'
import type { CallOptions, Delivery, DeliveryQuery, Redelivery } from '../common/types.ts'
import { listByCursor } from './lists.ts'
import { Resource } from './resource.ts'

const pathOf = (webhook: string, delivery: string): string =>
  `/webhooks/${encodeURIComponent(webhook)}/deliveries/${encodeURIComponent(delivery)}`

/** `tintype.webhooks.deliveries` */
export class Deliveries extends Resource {
  /** Lists the deliveries of the last 7 days, newest attempt first. */
  list(webhook: string, query: DeliveryQuery & CallOptions = {}): List<Delivery> {
    return listByCursor(this.transport, `/webhooks/${encodeURIComponent(webhook)}/deliveries`, query)
  }

  /** Reads a delivery. `delivery` is the header X-Webhook-Delivery that your endpoint received. */
  async get(webhook: string, delivery: string, { signal }: CallOptions = {}): Promise<Delivery> {
    return this.transport.data<Delivery>({ method: 'GET', path: pathOf(webhook, delivery), signal })
  }

  /** Posts the event once more, with the same body and ids. */
  async redeliver(webhook: string, delivery: string, { signal }: CallOptions = {}): Promise<Redelivery> {
    const path = `${pathOf(webhook, delivery)}/redeliver`
    return this.transport.data<Redelivery>({ method: 'POST', path, signal })
  }

  /** Posts all missed events of the endpoint once more. Returns their number. */
  async redeliverMissed(webhook: string, { signal }: CallOptions = {}): Promise<number> {
    const path = `/webhooks/${encodeURIComponent(webhook)}/redeliver-missed`
    return (await this.transport.data<{ missed_deliveries: number }>({ method: 'POST', path, signal })).missed_deliveries
  }
}
