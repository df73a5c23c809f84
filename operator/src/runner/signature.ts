import { createHash, createPrivateKey, randomUUID, sign } from 'node:crypto'
import { SIGNATURE_SECONDS, type SignedRequest } from '@tintype/crds/dispatch/dispatch'
import type { DispatchKey } from '../secrets/release-keys.ts'

/** The request to sign and the pod for which the signature is valid. Without a `jti`, a random one is used. */
export interface RequestToSign {
  podUid: string
  method: string
  path: string
  body?: string
  jti?: string
}

/** Signs requests to runners. Returns the value of the Authorization header. */
export type Signer = (request: RequestToSign, now: Date) => Promise<string>

const HEADER = Buffer.from(JSON.stringify({ alg: 'EdDSA' })).toString('base64url')

/**
 * Creates the signer of a release: compact JWS. It signs synchronously in 0.05 ms: WebCrypto passes each signature to another thread, which
 * costs several times as much, for about three requests per capture.
 */
export async function createSigner(privateKey: DispatchKey): Promise<Signer> {
  const key = createPrivateKey({ key: privateKey, format: 'jwk' })
  return async ({ podUid, method, path, body = '', jti = randomUUID() }, now) => {
    const request: SignedRequest = { method, path, sha256: createHash('sha256').update(body).digest('base64url'), jti }
    const seconds = Math.floor(now.getTime() / 1_000)
    const claims = { ...request, aud: podUid, iat: seconds, exp: seconds + SIGNATURE_SECONDS }
    const signed = `${HEADER}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`
    return `Bearer ${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`
  }
}
