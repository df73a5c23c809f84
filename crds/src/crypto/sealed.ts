import { createHash, generateKeyPairSync } from 'node:crypto'
import { CompactEncrypt, compactDecrypt, importJWK } from 'jose'
import { z } from 'zod'

// Secrets of clients, encrypted to the operator (JWE, ECDH-ES with X25519, A256GCM). The gateway holds the public key only, so that what it
// has stored it cannot read back. Whom a text is for is in its protected header and checked when it is opened: a sealed text that was copied
// into another object opens nowhere.

const jwk = { kty: z.literal('OKP'), crv: z.literal('X25519'), x: z.base64url(), kid: z.string().regex(/^[a-z0-9]{1,16}$/) }

/** The key to seal to, as JWK (RFC 8037): data `public.json` of the Secret. */
export const SealingKey = z.object(jwk)
export type SealingKey = z.infer<typeof SealingKey>

/** Every key that still opens, the current one first: data `private.json`. A rotation puts a new one before the old ones. */
export const OpeningKeys = z.array(z.object({ ...jwk, d: z.base64url() })).min(1)
export type OpeningKeys = z.infer<typeof OpeningKeys>

/** What a sealed text is for. */
export interface SealedFor {
  purpose: 'options' | 'large-options' | 'signing-secret' | 'link-secret'
  /** Name of the object that holds it, or id of the batch whose objects share it. */
  subject: string
  account: string
  /** The address that the options are for; absent where there is none, or where a batch has many. */
  url?: string | undefined
}

/** Thrown when a text is malformed, was sealed to another key, or is for something else. Never quotes it. */
export class SealError extends Error {
  override readonly name = 'SealError'
}

const ALGORITHM = 'ECDH-ES'
const CONTENT = 'A256GCM'
/** Name of the header parameter that says what the text is for. */
const BOUND = 'tintype'

const bindingOf = ({ purpose, subject, account, url }: SealedFor): string[] => [
  purpose,
  subject,
  account,
  url === undefined ? '' : createHash('sha256').update(url).digest('base64url'),
]

/** Makes a pair of keys. */
export function newOpeningKey(kid: string): OpeningKeys[number] {
  const { kty, crv, x, d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' })
  return OpeningKeys.element.parse({ kty, crv, x, d, kid })
}

/** The half of a key that the gateway may have. */
export const toSealingKey = ({ d: _, ...key }: OpeningKeys[number]): SealingKey => key

/** Seals a text for one purpose; the result is a compact JWE. */
export async function seal(text: string, sealedFor: SealedFor, key: SealingKey): Promise<string> {
  const header = { alg: ALGORITHM, enc: CONTENT, kid: key.kid, [BOUND]: bindingOf(sealedFor) }
  return new CompactEncrypt(new TextEncoder().encode(text)).setProtectedHeader(header).encrypt(await importJWK(key, ALGORITHM))
}

/**
 * Opens what {@link seal} made.
 * @throws SealError
 */
export async function unseal(sealed: string, sealedFor: SealedFor, keys: OpeningKeys): Promise<string> {
  const kid = kidOf(sealed)
  const key = keys.find((candidate) => candidate.kid === kid)
  if (!key) throw new SealError('it is sealed to a key that is not known')
  const limits = { keyManagementAlgorithms: [ALGORITHM], contentEncryptionAlgorithms: [CONTENT] }
  const opened = await compactDecrypt(sealed, await importJWK(key, ALGORITHM), limits).catch(() => undefined)
  if (!opened) throw new SealError('it cannot be opened')
  if (JSON.stringify(opened.protectedHeader[BOUND]) !== JSON.stringify(bindingOf(sealedFor)))
    throw new SealError('it is sealed for something else')
  return new TextDecoder().decode(opened.plaintext)
}

function kidOf(sealed: string): unknown {
  try {
    const header: unknown = JSON.parse(Buffer.from(sealed.split('.')[0] ?? '', 'base64url').toString())
    return (header as { kid?: unknown } | null)?.kid
  } catch {
    return undefined
  }
}
