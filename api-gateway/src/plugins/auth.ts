import type { IncomingHttpHeaders } from 'node:http'
import type { Account } from '@tintype/crds/kinds/account'
import type { ApiKey, Scope } from '@tintype/crds/kinds/api-key'
import type { FastifyInstance } from 'fastify'
import { findAccountFor, findUsableKey } from '../resources/keys/credentials.ts'
import type { KeyStore } from '../store/ports.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope that the API key needs. A route without a scope is public. */
    scope?: Scope
  }
  interface FastifyRequest {
    /** Name of the key's account. Set on every route with a scope. */
    accountName: string
    /** The key's account. */
    account: Account
    /** The authenticated key. */
    apiKey: ApiKey
  }
}

export interface AuthDeps {
  keys: KeyStore
  now: () => Date
}

interface SessionDeps {
  /** Returns the key of a session of the web console, or undefined for other requests. @throws ApiError 401 */
  findSessionKey?: ((headers: IncomingHttpHeaders) => Promise<ApiKey | undefined>) | undefined
}

/** @throws ApiError 401 or 403 */
export async function authenticate(
  authorization: string | undefined,
  scope: Scope,
  deps: AuthDeps,
): Promise<{ account: Account; apiKey: ApiKey }> {
  const { apiKey } = await findUsableKey(authorization, deps)
  return useKey(apiKey, scope, deps)
}

async function useKey(apiKey: ApiKey, scope: Scope, deps: AuthDeps): Promise<{ account: Account; apiKey: ApiKey }> {
  const account = await findAccountFor(apiKey, scope, deps.keys)
  deps.keys.recordUse(apiKey, deps.now())
  return { account, apiKey }
}

/** Authenticates requests to routes with a scope, before the body is read. Depends on errors. */
export function addAuth(app: FastifyInstance, deps: AuthDeps & SessionDeps): void {
  app.decorateRequest('accountName', '')
  // Object decorators are declared without a value, because all requests would share it.
  app.decorateRequest('account')
  app.decorateRequest('apiKey')
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config
    if (scope === undefined) return
    const sessionKey = await deps.findSessionKey?.(request.headers)
    const { account, apiKey } = await (sessionKey
      ? useKey(sessionKey, scope, deps)
      : authenticate(request.headers.authorization, scope, deps))
    Object.assign(request, { account, apiKey, accountName: account.metadata.name })
  })
}
