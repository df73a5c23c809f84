import { RotateBody } from '../../translate/common/fields.ts'
import { CreateKeyBody, UpdateKeyBody } from '../../translate/keys/key-body.ts'
import { CreateWebhookBody, UpdateWebhookBody } from '../../translate/webhooks/webhook-body.ts'
import { name } from './naming.ts'

// Request bodies as the routes parse them.

export const CreateKey = name('CreateKey', CreateKeyBody.describe('A new API key.'))
export const UpdateKey = name('UpdateKey', UpdateKeyBody.describe('Fields of a key to change, at least one.').meta({ minProperties: 1 }))
export const CreateWebhook = name('CreateWebhook', CreateWebhookBody.describe('A new webhook endpoint.'))
export const UpdateWebhook = name(
  'UpdateWebhook',
  UpdateWebhookBody.describe('Fields of an endpoint to change, at least one.').meta({ minProperties: 1 }),
)
export const RotateSecret = name('RotateSecret', RotateBody.describe('How long the replaced key or secret stays valid.'))
