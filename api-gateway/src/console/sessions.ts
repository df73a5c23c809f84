import type { IncomingHttpHeaders } from 'node:http'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { signInKey } from '@tintype/crds/records/storage-keys'
import { ApiError, unavailable } from '../common/errors.ts'
import { findAccountOf, findUsableKey, generationOf, invalidKey, isUsable } from '../resources/keys/credentials.ts'
import type { KeyRingSource, KeyStore, ObjectStore } from '../store/ports.ts'
import { isFromConsole, sessionTokenOf } from './session-cookie.ts'
import { openToken, type Purpose, SESSION_MILLISECONDS, sealToken, type TokenContent } from './session-token.ts'

// Sessions of the web console. A session acts for one API key in one version: it ends with every change of the key's spec, and a change back does not
// revive it. Kubernetes counts these changes, so the end needs no write, and users of kubectl get the same. ADR 59.

export interface SessionsDeps {
  keys: KeyStore
  keyRing: KeyRingSource
  objects: Pick<ObjectStore, 'exists' | 'write'>
  now: () => Date
}

/** A session that has begun. */
export interface Session {
  apiKey: ApiKey
  token: string
}

/** A valid session of a request. */
export interface OpenSession {
  apiKey: ApiKey
  expiresAt: Date
}

const signInAgain = (): ApiError => new ApiError('UNAUTHORIZED', 'the session of the web console has ended: sign in again')
const invalidCode = (): ApiError => new ApiError('UNAUTHORIZED', 'the sign-in link was used or has expired: sign in with an API key')

/** Begins, finds and ends sessions. */
export class Sessions {
  readonly #deps: SessionsDeps

  constructor(deps: SessionsDeps) {
    this.#deps = deps
  }

  /** @throws ApiError INVALID_API_KEY */
  async beginWithKey(text: string): Promise<Session> {
    const { apiKey, hash } = await this.#authenticate(`Bearer ${text}`)
    return { apiKey, token: this.#seal('session', apiKey, hash) }
  }

  /** A code that begins one session of the key, within ten minutes. @throws ApiError 401 */
  async issueCode(authorization: string | undefined): Promise<{ apiKey: ApiKey; code: string }> {
    const { apiKey, hash } = await this.#authenticate(authorization)
    return { apiKey, code: this.#seal('code', apiKey, hash) }
  }

  /**
   * The key that a code signs in as. The code stays unused.
   * @throws ApiError UNAUTHORIZED if the code is not valid, was used, or has expired
   */
  async describeCode(code: string): Promise<ApiKey> {
    const { apiKey, marker } = await this.#openCode(code)
    if (await this.#deps.objects.exists(marker).catch(rethrowStore)) throw invalidCode()
    return apiKey
  }

  /** @throws ApiError UNAUTHORIZED if the code is not valid, was used, or has expired */
  async beginWithCode(code: string): Promise<Session> {
    const { apiKey, hash, marker } = await this.#openCode(code)
    // All replicas share the bucket, and the store accepts the condition only once. The lifecycle rule of the folder removes the object.
    const written = await this.#deps.objects.write(marker, '{}', { ifAbsent: true }).catch(rethrowStore)
    if (written === undefined) throw invalidCode()
    return { apiKey, token: this.#seal('session', apiKey, hash) }
  }

  /**
   * The session of a request, or undefined when the request is not from the console.
   * @throws ApiError UNAUTHORIZED when the session has ended
   */
  async find(headers: IncomingHttpHeaders): Promise<OpenSession | undefined> {
    if (headers.authorization !== undefined || !isFromConsole(headers)) return undefined
    const { keyRing, now } = this.#deps
    const token = sessionTokenOf(headers)
    const content = token === undefined ? undefined : openToken('session', token, keyRing(), now())
    const apiKey = content && (await this.#findUsableKey(content))
    if (!apiKey) throw signInAgain()
    return { apiKey, expiresAt: new Date(content.at + SESSION_MILLISECONDS) }
  }

  /** Ends every session of the key, on all replicas. */
  async end(apiKey: ApiKey): Promise<void> {
    await this.#deps.keys.endSessions(apiKey, this.#deps.now())
  }

  /** The key of a code, and the object that records its use. */
  async #openCode(code: string): Promise<{ apiKey: ApiKey; hash: string; marker: string }> {
    const { keyRing, now } = this.#deps
    const content = openToken('code', code, keyRing(), now())
    const apiKey = content && (await this.#findUsableKey(content))
    if (!apiKey) throw invalidCode()
    return { apiKey, hash: content.hash, marker: signInKey(accountOf(apiKey), content.nonce) }
  }

  async #authenticate(authorization: string | undefined): Promise<{ apiKey: ApiKey; hash: string }> {
    const found = await findUsableKey(authorization, this.#deps)
    if (!(await findAccountOf(found.apiKey, this.#deps.keys))) throw invalidKey()
    return found
  }

  async #findUsableKey({ key, uid, generation, hash, at }: TokenContent): Promise<ApiKey | undefined> {
    const apiKey = await this.#deps.keys.findById(key, generation)
    if (!apiKey || apiKey.metadata.uid !== uid || generationOf(apiKey) !== generation) return undefined
    if (!isUsable(apiKey, hash, this.#deps.now()) || !(await findAccountOf(apiKey, this.#deps.keys))) return undefined
    const endedAt = apiKey.status?.sessionsNotBefore
    return endedAt !== undefined && at <= Date.parse(endedAt) ? undefined : apiKey
  }

  /** The clock of the replica that ended the last sessions may be ahead of ours, so a new token is never older than their end. */
  #seal(purpose: Purpose, apiKey: ApiKey, hash: string): string {
    const { keyRing, now } = this.#deps
    const { metadata, status } = apiKey
    const endedAt = status?.sessionsNotBefore === undefined ? 0 : Date.parse(status.sessionsNotBefore)
    const at = Math.max(now().getTime(), endedAt + 1)
    return sealToken(purpose, { key: apiKeyIdOf(metadata), uid: metadata.uid, generation: generationOf(apiKey), hash, at }, keyRing())
  }
}

const rethrowStore = (cause: unknown): never => {
  throw unavailable('the sign-in link cannot be checked at the moment: retry in a few seconds', cause)
}
