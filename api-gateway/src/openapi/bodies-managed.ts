import { RotateBody } from '../translate/fields.ts'
import { CreateKeyBody, UpdateKeyBody } from '../translate/key-body.ts'
import { CreateWebhookBody, UpdateWebhookBody } from '../translate/webhook-body.ts'
import { name } from './naming.ts'

// The bodies of keys and webhooks, exactly as the routes read them.

export const CreateKey = name('CreateKey', CreateKeyBody.describe('A key to make.'))
export const UpdateKey = name(
  'UpdateKey',
  UpdateKeyBody.describe('What to change of a key; at least one field.').meta({ minProperties: 1 }),
)
export const CreateWebhook = name('CreateWebhook', CreateWebhookBody.describe('An endpoint to post events to.'))
export const UpdateWebhook = name(
  'UpdateWebhook',
  UpdateWebhookBody.describe('What to change of an endpoint; at least one field.').meta({ minProperties: 1 }),
)
export const RotateSecret = name('RotateSecret', RotateBody.describe('How long what is replaced still works.'))
