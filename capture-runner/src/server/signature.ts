import { createHash } from 'node:crypto'
import { SIGNATURE_SECONDS, SignedRequest } from '@tintype/crds/dispatch/dispatch'
import { importJWK, type JWK, jwtVerify } from 'jose'

// Only the operator holds the private key. What it signed names one request to one pod, once, for half a minute. Nothing of a request is parsed
// before its signature holds.

/** A request as it came in. */
export interface Received {
  method: string
  path: string
  authorization: string | undefined
}

/** A request that the operator made; its body is still to be compared. */
export interface Verified {
  /** True when `body` is what was signed. */
  covers: (body: Buffer) => boolean
}

/** Verifies requests. */
export interface Verifier {
  /** Undefined: answer 401. A token is good for one request: its second use is a replay. */
  verify: (received: Received) => Promise<Verified | undefined>
}

/** Seconds that the operator's clock may be off. */
const TOLERANCE_SECONDS = 5
const KEPT_MILLISECONDS = (SIGNATURE_SECONDS + 2 * TOLERANCE_SECONDS) * 1_000

/** @param publicKey the operator's Ed25519 key; @param audience this pod's uid */
export async function createVerifier({ publicKey, audience, now = Date.now }: VerifierParts): Promise<Verifier> {
  const key = await importJWK(publicKey, 'EdDSA')
  const seen = new Map<string, number>()
  /** False for a token that was used before. Tokens are remembered for as long as they would hold. */
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
