import { z } from 'zod'
import { CreateBody } from '../translate/create-body.ts'
import { name } from './naming.ts'

// The bodies as the routes read them, with what the document says besides: the rules of addresses are judged by code.

const MAX_URL_LENGTH = 8192

const address = z
  .string()
  .min(1)
  .max(MAX_URL_LENGTH)
  .meta({ format: 'uri' })
  .describe('Address of the page: public, http or https, without user name and password, at most 8192 characters.')

export const CreateScreenshot = name(
  'CreateScreenshot',
  CreateBody.extend({
    url: address.optional(),
    options: CreateBody.shape.options
      .unwrap()
      .extend({ url: address.optional().describe('Address of the page, when there is none at the top level.') })
      .optional()
      .describe('How to capture. All are optional; what was not chosen is not stored.'),
  }).describe('A page to capture. `url` is required, here or in `options`; the outer one wins.'),
)
