import { z } from 'zod'
import { name } from '../../http/named-schemas.ts'
import { BatchBody } from '../../translate/batches/batch-body.ts'
import { CreateBody } from '../../translate/screenshots/create-body.ts'

// Request bodies as the routes parse them. The rules for URLs are added here, because the routes check them in code.

const MAX_URL_LENGTH = 8192

const address = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .meta({ format: 'uri' })
  .describe(
    'URL of the page: public, http or https, at most 8192 characters. User name and password in it are used for basic authentication and are never shown.',
  )

export const CreateScreenshot = name(
  'CreateScreenshot',
  CreateBody.extend({
    url: address.optional(),
    options: CreateBody.shape.options
      .unwrap()
      .extend({ url: address.optional().describe('URL of the page, if the top level has none.') })
      .optional()
      .describe('Capture options. All are optional. Options without a value are not stored.'),
  }).describe('A page to capture. `url` is required, here or in `options`. The one at the top level takes precedence.'),
)

export const CreateBatch = name(
  'CreateBatch',
  BatchBody.extend({
    urls: z.array(address).min(1).max(100).describe('URLs of the pages, 1 to 100.'),
    options: BatchBody.shape.options.describe('Capture options for all pages.'),
  }).describe('Pages to capture with the same options. One invalid URL rejects the whole batch.'),
)
