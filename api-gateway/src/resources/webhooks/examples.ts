// Examples of webhooks. A test checks them against the schemas.

const createdAt = '2026-11-21T10:00:00.000Z'
const pagination = { limit: 100, offset: 0, total: 1, has_more: false }

export const webhookId = 'wh_01kajq2v0vtz8m3c5x7r9w4n6p'

const webhook = {
  id: webhookId,
  name: 'orders',
  url: 'https://hooks.example.com/tintype',
  events: ['screenshot.completed', 'screenshot.failed'],
  description: 'Archives the screenshots.',
  is_active: true,
  is_default: false,
  created_at: createdAt,
  updated_at: createdAt,
  disabled_reason: null,
  signing_secret_hint: 'whsec_…Fsd2',
}

const secret = 'whsec_RVhBTVBMRWV4YW1wbGVFWEFNUExFZXhhbXBsZUVY'

export const webhookCreated = { message: 'Webhook created successfully', data: { ...webhook, signing_secret: secret } }
export const webhookChanged = { message: 'Webhook updated successfully', data: { ...webhook, is_active: false } }
const statistics = {
  total_deliveries: 120,
  successful_deliveries: 118,
  failed_deliveries: 1,
  pending_deliveries: 1,
  missed_deliveries: 0,
  success_rate: 99.16,
  average_response_time_ms: 84.2,
  last_delivery_at: '2026-11-21T11:02:10.000Z',
  last_success_at: '2026-11-21T11:02:10.000Z',
  last_failure_at: '2026-11-20T03:00:05.000Z',
  last_status_code: 200,
  consecutive_failures: 0,
}

export const defaultWebhookFound = {
  success: true,
  data: {
    ...webhook,
    name: 'webhook_url of single requests',
    url: 'https://webhook-url.invalid/',
    description: null,
    is_default: true,
    statistics,
  },
}

export const webhookFound = {
  success: true,
  data: {
    ...webhook,
    statistics,
  },
}
export const webhookList = { success: true, data: [webhook], pagination }
export const secretRotated = {
  message: 'Signing secret rotated successfully',
  data: { signing_secret: secret, previous_secret_expires_at: '2026-11-22T10:00:00.000Z' },
}

export const webhookTested = {
  success: true,
  message: 'The endpoint accepted the test event',
  status_code: 200,
  response_time_ms: 38,
  error: null,
  timestamp: '2026-11-21T10:00:07.252Z',
}
