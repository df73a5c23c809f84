import { CaptureOrder } from '@tintype/crds/dispatch/dispatch'
import { compactDecrypt, exportJWK, generateKeyPair } from 'jose'

// The runner's own key pair, made at boot and gone with the process. Orders hold cookies, passwords and upload addresses; pod-to-pod traffic
// is plain HTTP in most clusters.

/** What the world may know of it, and what opens orders. */
export interface OrderKeys {
  publicKey: { kty: 'OKP'; crv: 'X25519'; x: string }
  /** Opens and checks an order. @throws on anything that was not made for this key, or is no order */
  open: (jwe: string) => Promise<CaptureOrder>
}

/** Makes the key pair. */
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

/** @throws an Error for the log: parsers quote what they read, and what they read here is secret */
function parseOrder(text: string): CaptureOrder {
  const read = CaptureOrder.safeParse(fromJson(text))
  if (read.success) return read.data
  // Names of fields only: those of headers are the client's.
  const places = new Set(read.error.issues.map(({ path: [field] }) => String(field ?? 'the whole')))
  throw new Error(`it is no order; wrong: ${[...places].join(', ')}`)
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
