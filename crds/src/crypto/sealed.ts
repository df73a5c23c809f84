import { createHash, generateKeyPairSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, importJWK } from 'jose'
import { z } from 'zod'
import { parseJson } from '../text/json.ts'

// Encrypts secrets of clients for the operator (JWE, ECDH-ES with X25519, A256GCM). The gateway has only the public key, so that it cannot decrypt
// stored secrets. The protected header binds a text to its object. Decryption checks this, so that a text is useless in another object.

const jwk = { kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.base64url(), kid: z.string().regex(/^[a-z0-9]{1,16}$/) }

/** The public key as JWK (RFC 8037): data `public.json` of the Secret. */
export const SealingKey = z.object(jwk)
export type SealingKey = z.infer<typeof SealingKey>

/** All private keys, the current one first: data `private.json`. A rotation adds a new key at the front. */
export const OpeningKeys = z.array(z.object({ ...jwk, d: z.base64url() })).min(1)
export type OpeningKeys = z.infer<typeof OpeningKeys>

/** The object and purpose to which an encrypted text is bound. */
export interface SealedFor {
  purpose: 'options' | 'large-options' | 'signing-secret'
  /** Name of the object that contains it, or id of the batch whose objects share it. */
  subject: string
  account: string
  /** The URL to capture; absent without private options, or if a batch has several. */
  url?: string | undefined
}

/** The text is malformed, encrypted to another key, or bound to another object. The message never contains the text. */
export class SealError extends Error {
  override readonly name = 'SealError'
}

const ALGORITHM = 'ECDH-ES'
const CONTENT = 'A256GCM'
/** Name of the header parameter that binds the text. */
const BOUND = 'tintype'

const bindingOf = ({ purpose, subject, account, url }: SealedFor): string[] => [
  purpose,
  subject,
  account,
  url === undefined ? '' : createHash('sha256').update(url).digest('base64url'),
]

/** Creates a key pair. */
export function newOpeningKey(kid: string): OpeningKeys[number] {
  const { kty, crv, x, d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' })
  return OpeningKeys.element.parse({ kty, crv, x, d, kid })
}

/** The public half of a key pair. */
export const toSealingKey = ({ d: _, ...key }: OpeningKeys[number]): SealingKey => key

/** Encrypts a text, and binds it to its object and purpose. Returns a compact JWE. */
export async function seal(text: string, sealedFor: SealedFor, key: SealingKey): Promise<string> {
  const header = { alg: ALGORITHM, enc: CONTENT, kid: key.kid, [BOUND]: bindingOf(sealedFor) }
  const bytes = new TextEncoder().encode(text)
  try {
    return await new CompactEncrypt(bytes).setProtectedHeader(header).encrypt(await importJWK(key, ALGORITHM))
  } finally {
    // Frees the memory at once. The garbage collector frees large buffers late.
    bytes.buffer.transfer(0)
  }
}

/**
 * Decrypts a text of {@link seal}.
 * @param sealedFor the object and purpose, or several of which one must fit
 * @throws SealError
 */
export async function unseal(sealed: string, sealedFor: SealedFor | readonly SealedFor[], keys: OpeningKeys): Promise<string> {
  const kid = kidOf(sealed)
  const key = keys.find((candidate) => candidate.kid === kid)
  if (!key) throw new SealError('the text is encrypted with an unknown key')
  const limits = { keyManagementAlgorithms: [ALGORITHM], contentEncryptionAlgorithms: [CONTENT] }
  const opened = await compactDecrypt(sealed, await importJWK(key, ALGORITHM), limits).catch(() => undefined)
  if (!opened) throw new SealError('the text cannot be decrypted')
  const bound = JSON.stringify(opened.protectedHeader[BOUND])
  if (![sealedFor].flat().some((one) => JSON.stringify(bindingOf(one)) === bound)) throw new SealError('the text belongs to another object')
  return new TextDecoder().decode(opened.plaintext)
}

function kidOf(sealed: string): unknown {
  const header = parseJson(Buffer.from(sealed.split('.')[0] ?? '', 'base64url').toString())
  return (header as { kid?: unknown } | null | undefined)?.kid
}
