import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'

// Secrets of signed links. They are derived from a key of the release, so that no object contains one and every gateway derives the same.

const KEY_BYTES = 32

/** The release key of link secrets: data `key.json` of the Secret. A shorter key would make secrets guessable. */
export const LinkKey = z.object({ key: z.base64().refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES) })
export type LinkKey = z.infer<typeof LinkKey>

/** Creates a release key. */
export const newLinkKey = (): LinkKey => ({ key: randomBytes(KEY_BYTES).toString('base64') })

const PREFIX = 'lsk_'
/** The first line separates these texts from other texts under the same key. */
const DOMAIN = 'tintype-link-secret-v1'

/**
 * The secret that signs links of an API key: `lsk_` and 43 base64url characters.
 * @param keyId id of the API key, such as `key_…`. It contains no line break.
 * @param version version of the secret in the spec of the ApiKey
 */
export function deriveLinkSecret({ key }: LinkKey, keyId: string, version: number): string {
  const text = [DOMAIN, keyId, version].join('\n')
  return PREFIX + createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64url')
}
