import { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose'

// The runner's own key pair, created at start and kept in memory only. Orders contain cookies, passwords and upload URLs, and most clusters
// have plain HTTP between pods.

/** The public key, and a function that decrypts orders. */
export interface OrderKeys {
  publicKey: { kty: 'OKP'; crv: 'X25519'; x: string }
  /** Decrypts and validates an order. @throws when it was encrypted for another key or is invalid */
  open: (jwe: string) => Promise<CaptureOrder>
}

/** Creates the key pair. */
export async function createOrderKeys(): Promise<OrderKeys> {
  const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'X25519' })
  const { x } = await exportJWK(publicKey)
  if (x === undefined) throw new Error('an X25519 key has an x')
  const accepted = { keyManagementAlgorithms: ['ECDH-ES'], contentEncryptionAlgorithms: ['A256GCM'] }
  return {
    publicKey: { kty: 'OKP', crv: 'X25519', x },
    open: async (jwe) => {
      const { plaintext } = await compactDecrypt(jwe, privateKey, accepted)
      return parseOrder(new TextDecoder().decode(plaintext))
    },
  }
}

/** @throws an Error that is safe to log: parser errors quote their input, which is secret here */
function parseOrder(text: string): CaptureOrder {
  const read = CaptureOrder.safeParse(fromJson(text))
  if (read.success) return read.data
  // Only names of top-level fields, because nested names (of headers) come from the client.
  const places = new Set(read.error.issues.map(({ path: [field] }) => String(field ?? '(root)')))
  throw new Error(`invalid order; wrong fields: ${[...places].join(', ')}`)
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
