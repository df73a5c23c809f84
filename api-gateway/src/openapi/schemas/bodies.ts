import { z } from 'zod'
import { BatchBody } from '../../translate/batches/batch-body.ts'
import { RotateBody } from '../../translate/common/fields.ts'
import { CreateKeyBody, UpdateKeyBody } from '../../translate/keys/key-body.ts'
import { CreateBody } from '../../translate/screenshots/create-body.ts'
import { CreateWebhookBody, UpdateWebhookBody } from '../../translate/webhooks/webhook-body.ts'
import { name } from './naming.ts'

// Request bodies as the routes parse them. The rules for URLs are added here, because the routes check them in code.

const MAX_URL_LENGTH = 8192

const address = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .meta({ format: 'uri' })
  .describe(
    'Address of the page: public, http or https, at most 8192 characters. A user name and password in it become basic authentication and are never shown.',
  )

export const CreateScreenshot = name(
  'CreateScreenshot',
  CreateBody.extend({
    url: address.optional(),
    options: CreateBody.shape.options
      .unwrap()
      .extend({ url: address.optional().describe('Address of the page, when there is none at the top level.') })
      .optional()
      .describe('How to capture. All are optional; options without a value are not stored.'),
  }).describe('A page to capture. `url` is required, here or in `options`; the outer one wins.'),
)

export const CreateBatch = name(
  'CreateBatch',
  BatchBody.extend({
    urls: z.array(address).min(1).max(100).describe('Addresses of the pages, 1 to 100.'),
    options: BatchBody.shape.options.describe('How to capture each of them.'),
  }).describe('Pages to capture with one set of options. One bad address refuses the whole batch.'),
)

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
