import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { currentSecret, type KeyRing, secretOf } from '@tintype/crds/crypto/signatures'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import type { ApiKey } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import { signInKey } from '@tintype/crds/records/storage-keys'
import { parseJson } from '@tintype/crds/text/json'
import { z } from 'zod'
import { ApiError, unavailable } from '../common/errors.ts'
import { findAccountOf, findUsableKey, generationOf, invalidKey, isUsable } from '../resources/keys/credentials.ts'
import type { KeyRingSource, KeyStore, ObjectStore } from '../store/ports.ts'

// Sessions of the web console. A session acts for one API key in one version: it ends with every change of the key's spec, and a change back does not
// revive it. Kubernetes counts these changes, so the end needs no write, and users of kubectl get the same. ADR 59.

interface SessionsDeps {
  keys: KeyStore
  keyRing: KeyRingSource
  objects: Pick<ObjectStore, 'exists' | 'write'>
  now: () => Date
}

/** A session that has begun. */
interface Session {
  apiKey: ApiKey
  token: string
}

/** A valid session of a request. */
interface OpenSession {
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

// Tokens of the web console, encrypted with the release's key ring, so that every replica can open them and none is stored.

/** Purpose of a token. A token of one purpose cannot be opened as another. */
type Purpose = 'session' | 'code'

/** A session lasts this long. */
export const SESSION_MILLISECONDS = 12 * 3_600_000
/** A sign-in code is valid this long. */
export const CODE_MILLISECONDS = 10 * 60_000

const LIFETIMES: Readonly<Record<Purpose, number>> = { session: SESSION_MILLISECONDS, code: CODE_MILLISECONDS }

/** What a token says. */
const TokenContent = z.strictObject({
  /** Id of the API key. */
  key: z.string().max(300),
  /** Kubernetes changes the uid when the key is created again, and the generation when its spec changes. Either ends the token. */
  uid: z.string().max(64),
  generation: z.int(),
  /** Hash of the key's text. The token ends when the text is no longer valid. */
  hash: z.string().max(64),
  /** Time of issue, in milliseconds of Unix time. */
  at: z.int(),
  /** Random, and unique to the token. */
  nonce: z.string().max(32),
})
type TokenContent = z.infer<typeof TokenContent>

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const IV_BYTES = 12
const TAG_BYTES = 16
const MAX_TOKEN_LENGTH = 2_048

/** The release's keys also sign download links. HKDF derives a separate key for each purpose. */
const deriveKey = (secret: Buffer, purpose: Purpose): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', `tintype-console-${purpose}-v1`, KEY_BYTES))

/** Encrypts a token: `<id of the ring's key>.<base64url>`. */
export function sealToken(purpose: Purpose, content: Omit<TokenContent, 'nonce'>, ring: KeyRing): string {
  const secret = currentSecret(ring)
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, deriveKey(secret, purpose), iv)
  const text = JSON.stringify({ ...content, nonce: randomBytes(16).toString('hex') } satisfies TokenContent)
  const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `${ring.current}.${sealed.toString('base64url')}`
}

/** Opens a token of this purpose. Returns undefined for every token that the release did not issue, and after its lifetime. */
export function openToken(purpose: Purpose, token: string, ring: KeyRing, now: Date): TokenContent | undefined {
  if (token.length > MAX_TOKEN_LENGTH) return undefined
  const [id = '', text = ''] = token.split('.')
  const secret = secretOf(ring, id)
  const sealed = Buffer.from(text, 'base64url')
  if (secret === undefined || sealed.length <= IV_BYTES + TAG_BYTES) return undefined
  const plain = decrypt(deriveKey(secret, purpose), sealed)
  const { data } = TokenContent.safeParse(plain === undefined ? undefined : parseJson(plain))
  return data !== undefined && now.getTime() < data.at + LIFETIMES[purpose] ? data : undefined
}

function decrypt(key: Buffer, sealed: Buffer): string | undefined {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

// The cookie of the web console, and the headers without which it does not count.

/** Browsers accept a name with this prefix only from the host itself, over TLS. */
const SECURE_NAME = '__Host-tintype-session'
const PLAIN_NAME = 'tintype-session'

/** Request header that the console sends. Pages of other origins cannot send it without a CORS preflight, which never allows it. */
const CONSOLE_HEADER = 'x-tintype-console'

/** True for requests that the console's own page sends. Browsers set Sec-Fetch-Site, and pages cannot change it. */
export const isFromConsole = (headers: IncomingHttpHeaders): boolean =>
  headers[CONSOLE_HEADER] === '1' && headers['sec-fetch-site'] === 'same-origin'

/** True if the browser sees TLS. Browsers send Origin with every request that is not a GET or HEAD. */
const isOverTls = ({ origin = '', 'x-forwarded-proto': forwarded }: IncomingHttpHeaders): boolean =>
  origin.startsWith('https://') || forwarded === 'https'

function readCookies(header = ''): Map<string, string> {
  const pairs = header.split(';').map((part): [string, string] => {
    const at = part.indexOf('=')
    return [part.slice(0, at).trim(), part.slice(at + 1).trim()]
  })
  return new Map(pairs)
}

/** The session's token, or undefined. Over TLS only the cookie with the `__Host-` prefix counts, because subdomains can set others. */
function sessionTokenOf(headers: IncomingHttpHeaders): string | undefined {
  const cookies = readCookies(headers.cookie)
  return cookies.get(SECURE_NAME) ?? (isOverTls(headers) ? undefined : cookies.get(PLAIN_NAME))
}

const cookieOf = (token: string, seconds: number, isSecure: boolean): string =>
  `${isSecure ? SECURE_NAME : PLAIN_NAME}=${token}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`

/** Set-Cookie of a new session. */
export const toSessionCookie = (token: string, headers: IncomingHttpHeaders): string =>
  cookieOf(token, SESSION_MILLISECONDS / 1_000, isOverTls(headers))

/** Set-Cookie that removes the session. */
export const toEndedCookie = (headers: IncomingHttpHeaders): string => cookieOf('', 0, isOverTls(headers))
