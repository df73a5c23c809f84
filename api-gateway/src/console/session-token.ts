import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { currentSecret, type KeyRing, secretOf } from '@tintype/crds/crypto/signatures'
import { parseJson } from '@tintype/crds/text/json'
import { z } from 'zod'

// Tokens of the web console, encrypted with the release's key ring, so that every replica can open them and none is stored.

/** Purpose of a token. A token of one purpose cannot be opened as another. */
export type Purpose = 'session' | 'code'

/** A session lasts this long. */
export const SESSION_MILLISECONDS = 12 * 3_600_000
/** A sign-in code is valid this long. */
export const CODE_MILLISECONDS = 10 * 60_000

const LIFETIMES: Readonly<Record<Purpose, number>> = { session: SESSION_MILLISECONDS, code: CODE_MILLISECONDS }

/** What a token says. */
export const TokenContent = z.strictObject({
  /** Id of the API key. */
  key: z.string().max(300),
  /** Kubernetes changes the uid when the key is created again, and the generation when its spec changes. Either ends the token. */
  uid: z.string().max(64),
  generation: z.int(),
  /** Hash of the key's text. The token ends when the text is no longer valid. */
  hash: z.string().max(64),
  /** Time of issue, in milliseconds of Unix time. */
  at: z.int(),
  /** Random, and unique to the token. */
  nonce: z.string().max(32),
})
export type TokenContent = z.infer<typeof TokenContent>

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const MAX_TOKEN_LENGTH = 2_048

/** The release's keys also sign download links. HKDF derives a separate key for each purpose. */
const deriveKey = (secret: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `tintype-console-${purpose}-v1`, KEY_BYTES))

/** Encrypts a token: `<id of the ring's key>.<base64url>`. */
export function sealToken(purpose: Purpose, content: Omit<TokenContent, 'nonce'>, ring: KeyRing): string {
  const secret = currentSecret(ring)
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, deriveKey(secret, purpose), iv)
  const text = JSON.stringify({ ...content, nonce: randomBytes(16).toString('hex') } satisfies TokenContent)
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${ring.current}.${sealed.toString('base64url')}`
}

/** Opens a token of this purpose. Returns undefined for every token that the release did not issue, and after its lifetime. */
export function openToken(purpose: Purpose, token: string, ring: KeyRing, now: Date): TokenContent | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined
  const [id = '', text = ''] = token.split('.')
  const secret = secretOf(ring, id)
  const sealed = Buffer.from(text, 'base64url')
  if (secret === undefined || sealed.length <= IV_BYTES + TAG_BYTES) return undefined
  const plain = decrypt(deriveKey(secret, purpose), sealed)
  const { data } = TokenContent.safeParse(plain === undefined ? undefined : parseJson(plain))
  return data !== undefined && now.getTime() < data.at + LIFETIMES[purpose] ? data : undefined
}

function decrypt(key: Buffer, sealed: Buffer): string | undefined {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
