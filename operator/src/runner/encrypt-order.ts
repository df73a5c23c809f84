import { createCipheriv, createHash, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import type { Identity } from '@tintype/crds/dispatch/dispatch'

// Encrypts orders as compact JWE (RFC 7516) with a new key for each order: ECDH-ES with X25519, A256GCM. It uses synchronous node:crypto:
// WebCrypto needs six thread pool jobs, and waiting for them took an eighth of the operator's time per capture. Runners decrypt with a
// library.

const ENCRYPTION = 'A256GCM'
const KEY_BITS = 256
const NONCE_BYTES = 12

/** Public key of a runner, as a KeyObject. */
export type EncryptionKey = KeyObject

/** @throws when the key has another type */
export const toEncryptionKey = ({ publicKey }: Pick<Identity, 'publicKey'>): EncryptionKey =>
  createPublicKey({ key: publicKey, format: 'jwk' })

/** Encrypts a text so that only the holder of the key can read it. */
export function encryptOrder(text: string, key: EncryptionKey): string {
  const own = generateKeyPairSync('x25519')
  const { kty, crv, x } = own.publicKey.export({ format: 'jwk' })
  const header = toBase64(JSON.stringify({ alg: 'ECDH-ES', enc: ENCRYPTION, epk: { kty, crv, x } }))
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(diffieHellman({ privateKey: own.privateKey, publicKey: key })), nonce)
  cipher.setAAD(Buffer.from(header, 'ascii'))
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  // The second part, an encrypted key, is empty with direct key agreement.
  return [header, '', toBase64(nonce), toBase64(ciphertext), toBase64(cipher.getAuthTag())].join('.')
}

/** Concat KDF of RFC 7518, 4.6.2, without party info. One round is enough, because the key is as long as the hash. */
function deriveKey(secret: Buffer): Buffer {
  const round = toNumber(1)
  const algorithm = [toNumber(ENCRYPTION.length), Buffer.from(ENCRYPTION)]
  const parties = [toNumber(0), toNumber(0)]
  return createHash('sha256')
    .update(Buffer.concat([round, secret, ...algorithm, ...parties, toNumber(KEY_BITS)]))
    .digest()
}

function toNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const toBase64 = (data: string | Buffer): string => Buffer.from(data as string).toString('base64url')
