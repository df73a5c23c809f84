import { keyHash } from '@tintype/crds/key-text'
import type { Account } from '@tintype/crds/kinds/account'
import type { ApiKey, Scope } from '@tintype/crds/kinds/api-key'
import { DEFAULT_ACCOUNT } from '@tintype/crds/names'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../errors.ts'
import type { KeyStore } from '../store/ports.ts'
import { assertScope, findOldestKey, invalidKey, isUsable, parseBearer } from '../translate/keys/credentials.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a key must be allowed to do here; a route without it is public. */
    scope?: Scope
  }
  interface FastifyRequest {
    /** Name of the account that the key acts for; set on every route that has a scope. */
    accountName: string
    /** That account. */
    account: Account
    /** The key itself. */
    apiKey: ApiKey
  }
}

interface AuthDeps {
  keys: KeyStore
  now: () => Date
}

/** @throws ApiError 401 or 403 */
async function authenticate(
  authorization: string | undefined,
  scope: Scope,
  { keys, now }: AuthDeps,
): Promise<{ account: Account; apiKey: ApiKey }> {
  const hash = keyHash(parseBearer(authorization))
  const apiKey = findOldestKey(await keys.findByHash(hash))
  if (!apiKey || !isUsable(apiKey, hash, now())) throw invalidKey()
  const accountName = apiKey.spec.accountName ?? DEFAULT_ACCOUNT
  const account = await keys.findAccount(accountName)
  if (!account) throw invalidKey()
  if (account.spec.suspended) throw new ApiError('ACCOUNT_SUSPENDED', 'the account is suspended')
  assertScope(apiKey, scope)
  keys.noteUse(apiKey, now())
  return { account, apiKey }
}

/** Checks the API key of every route that names a scope, before its body is read. Depends on errors. */
export function addAuth(app: FastifyInstance, deps: AuthDeps): void {
  app.decorateRequest('accountName', '')
  // A decorator that is an object must be declared without a value: it would be shared by all requests.
  app.decorateRequest('account')
  app.decorateRequest('apiKey')
  app.addHook('onRequest', async (request) => {
    const { scope } = request.routeOptions.config
    if (scope === undefined) return
    const { account, apiKey } = await authenticate(request.headers.authorization, scope, deps)
    Object.assign(request, { account, apiKey, accountName: account.metadata.name })
  })
}
