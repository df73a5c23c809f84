import { createHash, randomUUID } from 'node:crypto'
import { SIGNATURE_SECONDS, type SignedRequest } from '@tintype/crds/dispatch'
import { importJWK, SignJWT } from 'jose'
import type { DispatchKey } from '../account/release-keys.ts'

/** What is signed, and for which pod. Without a `jti` it gets one by chance. */
export interface RequestToSign {
  podUid: string
  method: string
  path: string
  body?: string
  jti?: string
}

/** Signs requests to runners; the value is the Authorization header's. */
export type Signer = (request: RequestToSign, now: Date) => Promise<string>

/** The signer of a release. The key is imported once: that costs more than a signature. */
export async function createSigner(privateKey: DispatchKey): Promise<Signer> {
  const key = await importJWK(privateKey, 'EdDSA')
  return async ({ podUid, method, path, body = '', jti = randomUUID() }, now) => {
    const claims: SignedRequest = { method, path, sha256: createHash('sha256').update(body).digest('base64url'), jti }
    const seconds = Math.floor(now.getTime() / 1_000)
    const jws = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA' })
      .setAudience(podUid)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + SIGNATURE_SECONDS)
      .sign(key)
    return `Bearer ${jws}`
  }
}
