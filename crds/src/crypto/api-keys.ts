import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { z } from 'zod'

// The text of an API key: `ttk_`, 30 random base62 characters (178 bits), and a checksum of 6 characters. With the checksum, the gateway refuses
// malformed keys without a lookup.

const PREFIX = 'ttk_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 30
const CHECK_LENGTH = 6
const KEY_TEXT = /^ttk_[0-9A-Za-z]{36}$/

function checksum(random: string): string {
  let rest = crc32(random)
  let text = ''
  for (let i = 0; i < CHECK_LENGTH; i++, rest = Math.floor(rest / ALPHABET.length)) text = ALPHABET[rest % ALPHABET.length] + text
  return text
}

/** Creates the text of a new key. */
export function newKeyText(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return PREFIX + random + checksum(random)
}

/** True for text with a valid form and checksum. The key may still not exist. */
export function isKeyText(text: string): boolean {
  if (!KEY_TEXT.test(text)) return false
  const random = text.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH)
  return checksum(random) === text.slice(PREFIX.length + RANDOM_LENGTH)
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'

/** SHA-256 of a key's text in lower-case base32, because a hex digest is one character too long for a label. */
export const keyHash = (text: string): string => toBase32(createHash('sha256').update(text).digest())

/** 32 bytes in 52 letters of lower-case base32. */
export function toBase32(digest: Buffer): string {
  let value = BigInt(`0x${digest.toString('hex')}`)
  let letters = ''
  for (let i = 0; i < 52; i++, value >>= 5n) letters = BASE32[Number(value & 31n)] + letters
  return letters
}

// Secrets of signed links. They are derived from a key of the release, so that no object contains one and every gateway derives the same.

const KEY_BYTES = 32

/** The release key of link secrets: data `key.json` of the Secret. A shorter key would make secrets guessable. */
export const LinkKey = z.object({ key: z.base64().refine((text) => Buffer.from(text, 'base64').length === KEY_BYTES) })
export type LinkKey = z.infer<typeof LinkKey>

/** Creates a release key. */
export const newLinkKey = (): LinkKey => ({ key: randomBytes(KEY_BYTES).toString('base64') })

const LINK_PREFIX = 'lsk_'
/** The first line separates these texts from other texts under the same key. */
const DOMAIN = 'tintype-link-secret-v1'

/**
 * The secret that signs links of an API key: `lsk_` and 43 base64url characters.
 * @param keyId id of the API key, such as `key_…`. It contains no line break.
 * @param version version of the secret in the spec of the ApiKey
 */
export function deriveLinkSecret({ key }: LinkKey, keyId: string, version: number): string {
  const text = [DOMAIN, keyId, version].join('\n')
  return LINK_PREFIX + createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64url')
}
