import type {
  ApiKey,
  ApiKeyChanges,
  ApiKeyRequest,
  CallOptions,
  CheckedUrl,
  CreatedApiKey,
  LinkSecret,
  RotatedApiKey,
  Rotation,
} from '../common/types.ts'
import type { Transport } from '../http/transport.ts'
import { ManagedRecords } from './managed-records.ts'

/** `tintype.keys`. Store the `key` of a new API key: no later response contains it. */
export class Keys extends ManagedRecords<ApiKey, ApiKeyRequest, ApiKeyChanges, CreatedApiKey> {
  constructor(transport: Transport) {
    super(transport, '/keys')
  }

  /** Replaces the text of the key. The old text works for `overlap_hours`. Store `key`: no later response contains it. */
  async rotate(id: string, rotation: Rotation & CallOptions = {}): Promise<RotatedApiKey> {
    return this.call('POST', `${this.pathOf(id)}/rotate`, rotation)
  }

  /** Returns the secret for `signLink`, the same one each time. Your API key must have all scopes of this one. */
  async linkSecret(id: string, { signal }: CallOptions = {}): Promise<LinkSecret> {
    return this.transport.data({ method: 'POST', path: `${this.pathOf(id)}/link-secret`, signal })
  }

  /** Tests a URL against the capture policy of the key, without a capture. */
  async checkUrl(id: string, url: string, { signal }: CallOptions = {}): Promise<CheckedUrl> {
    return this.transport.data({ method: 'POST', path: `${this.pathOf(id)}/check-url`, body: { url }, signal })
  }

  /** Replaces the secret for `signLink`. Links signed with the old secret work for `overlap_hours`. */
  async rotateLinkSecret(id: string, rotation: Rotation & CallOptions = {}): Promise<LinkSecret> {
    return this.call('POST', `${this.pathOf(id)}/link-secret/rotate`, rotation)
  }
}
