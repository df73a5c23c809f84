import { keyHash } from '@tintype/crds/key-text'
import type { Scope } from '@tintype/crds/kinds/api-key'
import { DEFAULT_ACCOUNT } from '@tintype/crds/names'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors.ts'
import type { KeyStore } from '../store/ports.ts'
import { invalidKey, isUsable, parseBearer, requireScope } from '../translate/credentials.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key must be allowed to do here; a route without it is public. */
    scope?: Scope
  }
  interface FastifyRequest {
    /** Name of the account that the key acts for; set on every route that has a scope. */
    accountName: string
  }
}

interface AuthDeps {
  keys: KeyStore
  now: () => Date
}

/** @throws ApiError 401 or 403 */
async function authenticate(authorization: string | undefined, scope: Scope, { keys, now }: AuthDeps): Promise<string> {
  const hash = keyHash(parseBearer(authorization))
  const key = (await keys.findByHash(hash)).find((candidate) => isUsable(candidate, hash, now()))
  if (!key) throw invalidKey()
  const accountName = key.spec.accountName ?? DEFAULT_ACCOUNT
  const account = await keys.findAccount(accountName)
  if (!account) throw invalidKey()
  if (account.spec.suspended) throw new ApiError('ACCOUNT_SUSPENDED', 'the account is suspended')
  requireScope(key, scope)
  return accountName
}

/** Checks the API key of every route that names a scope, before its body is read. Depends on errors. */
export function addAuth(app: FastifyInstance, deps: AuthDeps): void {
  app.decorateRequest('accountName', '')
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config
    if (scope !== undefined) request.accountName = await authenticate(request.headers.authorization, scope, deps)
  })
}
