import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { findRefusedUrl, toCaptureLimits } from '@tintype/crds/policies/refusals'
import { z } from 'zod'
import { jsonBody } from '../../http/body.ts'
import { dataBody, name } from '../../http/fields.ts'
import type { Input } from '../../http/route.ts'
import type { RecordStore } from '../../store/ports.ts'
import { type ById, findOwn } from '../shared/owned-records.ts'

// Tests a URL against the capture policy of a key, without a capture.

const CheckUrl = name(
  'CheckKeyUrl',
  z.strictObject({ url: z.httpUrl().max(8_192).describe('URL of a page, http or https.') }).describe('A URL to test.'),
)

export const checkUrlBody = jsonBody({
  schema: CheckUrl,
  examples: { page: { summary: 'A page', value: { url: 'https://example.com/' } } },
})

export const UrlChecked = dataBody(
  'KeyUrlChecked',
  z.object({
    url: z.string(),
    allowed: z.boolean().describe('Whether the capture policy allows the host.'),
    reason: z.string().nullable().describe('Why it does not. Null: it does.'),
  }),
  'Whether the capture policy of a key allows a URL.',
)

/** Responds whether the key may capture the URL. Redirects and frames are only known when a page loads. */
export async function checkUrl(input: Input<ById, z.infer<typeof CheckUrl>>, { apiKeys }: { apiKeys: Pick<RecordStore<ApiKey>, 'find'> }) {
  const { metadata, spec } = await findOwn(input, apiKeys, 'API key')
  const { url } = input.body
  const reason = findRefusedUrl(url, toCaptureLimits(apiKeyIdOf(metadata), spec.capturePolicy)) ?? null
  return { success: true, data: { url, allowed: reason === null, reason } }
}
