import type {
  CallOptions,
  CreatedWebhook,
  RotatedSecret,
  Rotation,
  Webhook,
  WebhookChanges,
  WebhookRequest,
  WebhookTestResult,
  WebhookWithStatistics,
} from '../common/types.ts'
import type { Transport } from '../http/transport.ts'
import { Deliveries } from './deliveries.ts'
import { ManagedRecords } from './managed-records.ts'

/** `tintype.webhooks`. Store the `signing_secret` of a new endpoint: no later response contains it. */
export class Webhooks extends ManagedRecords<Webhook, WebhookRequest, WebhookChanges, CreatedWebhook, WebhookWithStatistics> {
  readonly deliveries: Deliveries

  constructor(transport: Transport) {
    super(transport, '/webhooks')
    this.deliveries = new Deliveries(transport)
  }

  /** Replaces the signing secret. Both secrets sign for `overlap_hours`. */
  async rotateSecret(id: string, rotation: Rotation & CallOptions = {}): Promise<RotatedSecret> {
    return this.call('POST', `${this.pathOf(id)}/rotate-secret`, rotation)
  }

  /** Posts a sample event to the endpoint. Read `success`: a failed test is not an error of this call. */
  async test(id: string, { signal }: CallOptions = {}): Promise<WebhookTestResult> {
    return (await this.transport.call<WebhookTestResult>({ method: 'POST', path: `${this.pathOf(id)}/test`, signal })).body
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
