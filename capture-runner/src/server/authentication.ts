import { createHash } from 'node:crypto'
import { CaptureOrder, SIGNATURE_SECONDS, SignedRequest } from '@tintype/crds/dispatch/dispatch'
import { compactDecrypt, exportJWK, generateKeyPair, importJWK, type JWK, jwtVerify } from 'jose'

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

// Verifies the operator's signature; only the operator holds the private key. A signature is valid for one request to one pod, once, for half a
// minute. Nothing of a request is parsed before its signature is verified.

/** A received request. */
export interface Received {
  method: string
  path: string
  authorization: string | undefined
}

/** A request with a valid signature. Its body is still to be compared. */
export interface Verified {
  /** True if `body` is the signed body. */
  covers: (body: Buffer) => boolean
}

/** Verifies requests. */
export interface Verifier {
  /** Returns undefined for an invalid request (401). A token is valid for one request; a second use is a replay. */
  verify: (received: Received) => Promise<Verified | undefined>
}

/** Tolerated difference of the operator's clock, in seconds. */
const TOLERANCE_SECONDS = 5
const KEPT_MILLISECONDS = (SIGNATURE_SECONDS + 2 * TOLERANCE_SECONDS) * 1_000

/** @param publicKey the operator's Ed25519 key; @param audience this pod's uid */
export async function createVerifier({ publicKey, audience, now = Date.now }: VerifierParts): Promise<Verifier> {
  const key = await importJWK(publicKey, 'EdDSA')
  const seen = new Map<string, number>()
  /** Returns false for a token that was used before. Tokens are remembered as long as they are valid. */
  const take = (token: string): boolean => {
    for (const [old, at] of seen) {
      if (now() - at < KEPT_MILLISECONDS) break
      seen.delete(old)
    }
    if (seen.has(token)) return false
    seen.set(token, now())
    return true
  }
  return {
    verify: async ({ method, path, authorization }) => {
      const [, token] = /^Bearer ([\w.-]+)$/.exec(authorization ?? '') ?? []
      if (token === undefined) return undefined
      const checks = { audience, maxTokenAge: SIGNATURE_SECONDS, clockTolerance: TOLERANCE_SECONDS, currentDate: new Date(now()) }
      const verified = await jwtVerify(token, key, { ...checks, algorithms: ['EdDSA', 'Ed25519'] }).catch(() => undefined)
      const claims = SignedRequest.safeParse(verified?.payload)
      if (!claims.success || claims.data.method !== method || claims.data.path !== path) return undefined
      if (!take(token)) return undefined
      const { sha256 } = claims.data
      return { covers: (body) => createHash('sha256').update(body).digest('base64url') === sha256 }
    },
  }
}

interface VerifierParts {
  publicKey: JWK
  audience: string
  now?: () => number
}
