import { name } from '../../http/named-schemas.ts'
import { CreateWebhookBody, UpdateWebhookBody } from '../../translate/webhooks/webhook-body.ts'

// Request bodies as the routes parse them.

export const CreateWebhook = name('CreateWebhook', CreateWebhookBody.describe('A new webhook endpoint.'))
export const UpdateWebhook = name(
  'UpdateWebhook',
  UpdateWebhookBody.describe('Fields of an endpoint to change, at least one.').meta({ minProperties: 1 }),
)
