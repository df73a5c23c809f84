import type { Account } from '@tintype/crds/kinds/account'
import type { ApiKey, Scope } from '@tintype/crds/kinds/api-key'
import { type Limits, toLinkLimits } from '@tintype/crds/policies/refusals'
import { ApiError, invalid } from '../../common/errors.ts'
import { type AuthDeps, authenticate } from '../../plugins/auth.ts'
import type { LinkKeySource } from '../../store/ports.ts'
import { captureLimitsOf } from '../keys/capture-limits.ts'
import { findAccountFor, invalidKey, isActive } from '../keys/credentials.ts'
import { validLinkSecretsOf } from '../keys/key-object.ts'
import type { LinkQuery } from './link-query.ts'
import { isSigned } from './link-signature.ts'

/** A link can create a screenshot. */
export const TAKE_SCOPE: Scope = 'screenshots:write'

export interface LinkAuthDeps extends AuthDeps {
  linkKey: LinkKeySource
}

/** Who requests a picture, and the limits of the request. */
export interface Caller {
  account: Account
  apiKey: ApiKey
  /** True for a signed link, false for a request with an API key. */
  isLink: boolean
  /** Limits of the key's captures and, for a signed link, of its links. */
  limits: readonly Limits[]
  /** Time at which the link stops working. */
  expires?: Date
}

/**
 * Authenticates a request with an API key, or else a signed link.
 * @throws ApiError 400, 401, 403
 */
export async function authenticateLink(link: LinkQuery, authorization: string | undefined, deps: LinkAuthDeps): Promise<Caller> {
  const expires = readExpires(link.expires)
  if (authorization !== undefined) {
    const { account, apiKey } = await authenticate(authorization, TAKE_SCOPE, deps)
    return { account, apiKey, isLink: false, limits: captureLimitsOf(apiKey) }
  }
  const { key, signature } = link
  if (key === undefined || signature === undefined) {
    throw new ApiError('UNAUTHORIZED', 'the link has no key or no signature. Sign it, or send the header Authorization.')
  }
  const apiKey = await deps.keys.findById(key)
  if (!apiKey) throw invalidKey()
  assertSigned(link, signature, apiKey, deps)
  // These come after the signature, so that only holders of a link learn about the state of its key.
  if (expires !== undefined && expires <= deps.now()) throw new ApiError('LINK_INVALID', 'the link has expired. Sign a new one.')
  if (!isActive(apiKey, deps.now())) throw invalidKey()
  const account = await findAccountFor(apiKey, TAKE_SCOPE, deps.keys)
  const limits = [toLinkLimits(apiKey.spec.linkPolicy), ...captureLimitsOf(apiKey)]
  return { account, apiKey, isLink: true, limits, ...(expires ? { expires } : {}) }
}

function assertSigned({ signed }: LinkQuery, signature: string, apiKey: ApiKey, { linkKey, now }: LinkAuthDeps): void {
  if (isSigned(signed, signature, validLinkSecretsOf(apiKey, linkKey(), now()))) return
  throw new ApiError('LINK_INVALID', 'the signature does not match the link. Sign the link again.')
}

/** Unix seconds with at most ten digits, so that a Date can hold them. */
const EXPIRES = /^\d{1,10}$/

function readExpires(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  if (EXPIRES.test(text)) return new Date(Number(text) * 1_000)
  throw invalid([{ path: 'expires', code: 'invalid_format', message: 'expires must be a time in Unix seconds' }])
}
