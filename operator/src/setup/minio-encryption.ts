import { createCipheriv, pbkdf2Sync, randomBytes } from 'node:crypto'

// MinIO's administrative calls carry secrets encrypted with the caller's own: salt (32) | algorithm (1) | nonce (8) | stream. The algorithm
// here is the one that Node has without a library, PBKDF2 with AES-GCM; the server accepts it in every build (madmin-go, encrypt.go).
// The stream is sio-go's: a sealed empty text gives the tag that every fragment is bound to, then one last fragment, marked 0x80.

const PBKDF2_AES_GCM = 0x02
const PBKDF2_ROUNDS = 8_192
const KEY_BYTES = 32
const SALT_BYTES = 32
const NONCE_BYTES = 8
const TAG_BYTES = 16
const LAST_FRAGMENT = 0x80
/** A fragment of sio-go; longer texts would need several. */
const MAX_BYTES = 16_384

/** Encrypts the body of an administrative call with the caller's secret key. */
export function encryptForMinio(secretKey: string, text: string): Buffer {
  const plain = Buffer.from(text)
  if (plain.length > MAX_BYTES) throw new RangeError(`at most ${MAX_BYTES} bytes can be sent to MinIO`)
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const key = pbkdf2Sync(secretKey, salt, PBKDF2_ROUNDS, KEY_BYTES, 'sha256')
  const binding = seal(key, fragmentNonce(nonce, 0), Buffer.alloc(0), Buffer.alloc(0))
  const fragment = seal(key, fragmentNonce(nonce, 1), plain, Buffer.concat([Buffer.of(LAST_FRAGMENT), binding]))
  return Buffer.concat([salt, Buffer.of(PBKDF2_AES_GCM), nonce, fragment])
}

function fragmentNonce(nonce: Buffer, sequence: number): Buffer {
  const counter = Buffer.alloc(4)
  counter.writeUInt32LE(sequence)
  return Buffer.concat([nonce, counter])
}

function seal(key: Buffer, nonce: Buffer, plain: Buffer, associated: Buffer): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  cipher.setAAD(associated)
  return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}
