import {
  createCipheriv,
  createHash,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  randomUUID,
  sign,
} from 'node:crypto'
import { type CaptureOrder, CaptureState, GivenUp, Identity, SIGNATURE_SECONDS, type SignedRequest } from '@tintype/crds/dispatch/dispatch'
import { RUNNER_PORT } from '@tintype/crds/identifiers/names'
import { FencedError, fence, type MayWrite } from '@tintype/crds/runtime/fence'
import { MAX_HEADER_BYTES, readAtMost } from '@tintype/crds/runtime/limited-read'
import { parseJson } from '@tintype/crds/text/json'
import { LRUCache } from 'lru-cache'
import { Agent, type Dispatcher } from 'undici'
import type { DispatchKey } from '../secrets/release-keys.ts'

// The operator's side of the dispatch protocol (crds/src/dispatch/dispatch.ts). It maps each response of a runner, or its absence, to one
// of a few outcomes. controllers/screenshot/decide.ts decides what they mean.

/** IP address of a runner, and the uid of its pod, which signatures name. */
export interface RunnerAddress {
  uid: string
  ip: string
}

/**
 * Outcome of sending an order. `accepted`: now or before. `busy`: the runner has another capture. `refused`: this runner will never take it.
 * `unavailable`: the runner responds but cannot take it now. `silent`: no response, outcome unknown. `unsent`: the runner's key is not known yet.
 */
export type DispatchOutcome =
  | { outcome: 'accepted' | 'silent' | 'unavailable' | 'unsent' }
  | { outcome: 'refused'; status: number; clockAheadMilliseconds: number }
  | { outcome: 'busy'; with: CaptureState }

/** State of a capture as its runner reports it. `absent`: the runner does not know it. `silent`: the runner does not respond. */
export type CaptureResponse = CaptureState['state'] | 'absent' | 'silent'

export interface RunnerResponse {
  response: CaptureResponse
  /** With `absent`: the runner had the capture and reports why it ended it. */
  givenUp?: GivenUp | undefined
  /** With `running`: the picture is being taken or stored, and the runner accepts another order. */
  isTaken?: boolean
}

interface HttpResponse {
  status: number
  body: unknown
  /** The Date header in epoch milliseconds; NaN without one. */
  date: number
}

interface RunnerRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: string
  jti?: string
  wait?: Wait
}

/** Long polling: until the capture no longer runs (`finished`), or until its picture is being taken (`taken`). */
interface Wait {
  seconds: number
  until: 'taken' | 'finished'
}

const NO_WAIT: Wait = { seconds: 0, until: 'finished' }

const CONNECT_MILLISECONDS = 1_000
const RESPONSE_MILLISECONDS = 2_000
/** The runner decrypts the order and responds before it captures. */
const POST_MILLISECONDS = 5_000
/** A response is an identity with its token, or a state: a few KiB. */
const MAX_BODY_BYTES = 64 * 1024

/** HTTP client for runners, with persistent connections. */
export class RunnerClient {
  readonly #sign: Signer
  readonly #agent = new Agent({
    connect: { timeout: CONNECT_MILLISECONDS },
    allowH2: false,
    keepAliveTimeout: 30_000,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
  /** Sends requests that change something. */
  readonly #writer: Dispatcher
  readonly #port: number
  readonly #now: () => number
  readonly #clocks = new ClockOffsets()

  /** @param options.now this program's clock, epoch milliseconds. Once `mayWrite` returns false, orders and cancellations are refused. */
  constructor(
    sign: Signer,
    { port = RUNNER_PORT, now = Date.now, mayWrite = () => true }: { port?: number; now?: () => number; mayWrite?: MayWrite } = {},
  ) {
    this.#sign = sign
    this.#writer = this.#agent.compose(fence(mayWrite))
    this.#now = now
    this.#port = port
  }

  /** Milliseconds by which a runner's clock is ahead of this one's, as last measured; 0 when they agree. */
  clockAheadMilliseconds({ uid }: Pick<RunnerAddress, 'uid'>): number {
    return this.#clocks.of(uid)
  }

  /**
   * Gets the identity that a runner claims. identity.ts verifies it.
   * @throws when the runner does not respond, or not with an Identity
   */
  async identity(runner: RunnerAddress): Promise<Identity> {
    const { status, body } = await this.#request(runner, () => ({ method: 'GET', path: '/identity' }))
    if (status !== 200) throw new Error(`the runner responded with ${status} to GET /identity`)
    return Identity.parse(body)
  }

  /** Sends an order, encrypted to the runner's key. @throws FencedError */
  async post(runner: RunnerAddress, key: EncryptionKey, order: CaptureOrder): Promise<DispatchOutcome> {
    const buildRequest = (): RunnerRequest => {
      // The runner checks the deadline by its own clock.
      const timed = { ...order, deadline: order.deadline + this.#clocks.of(runner.uid) }
      const body = encryptOrder(JSON.stringify(timed), key)
      return { method: 'POST', path: '/captures', body, jti: `${order.uid}/${order.attempt}` }
    }
    const response = await this.#request(runner, buildRequest, POST_MILLISECONDS).catch((error: unknown) => {
      if (error instanceof FencedError) throw error
    })
    if (!response) return { outcome: 'silent' }
    if (response.status === 200 || response.status === 202) return { outcome: 'accepted' }
    const { data: other } = response.status === 409 ? CaptureState.safeParse(response.body) : {}
    if (other) return { outcome: 'busy', with: other }
    if (response.status === 409 || response.status >= 500) return { outcome: 'unavailable' }
    return { outcome: 'refused', status: response.status, clockAheadMilliseconds: this.#clocks.of(runner.uid) }
  }

  /**
   * Gets the state of one attempt of a capture; `absent` if the runner knows another attempt.
   * @param wait how long the runner may hold back its response while it works; at most {@link MAX_WAIT_SECONDS}
   */
  async getCapture(runner: RunnerAddress, uid: string, attempt: number, wait = NO_WAIT): Promise<RunnerResponse> {
    const request: RunnerRequest = { method: 'GET', path: `/captures/${uid}`, wait }
    const response = await this.#request(runner, () => request, RESPONSE_MILLISECONDS + wait.seconds * 1_000).catch(() => undefined)
    if (response?.status === 404) {
      const { data } = GivenUp.safeParse(response.body)
      return { response: 'absent', ...(data?.attempt === attempt ? { givenUp: data } : {}) }
    }
    if (response?.status !== 200) return { response: 'silent' }
    const state = CaptureState.safeParse(response.body)
    if (!state.success) return { response: 'silent' }
    if (state.data.attempt !== attempt) return { response: 'absent' }
    return { response: state.data.state, ...(state.data.isTaken ? { isTaken: true } : {}) }
  }

  /** Cancels a capture. If the runner does not respond, the deadline ends it. */
  async cancel(runner: RunnerAddress, uid: string): Promise<void> {
    await this.#request(runner, () => ({ method: 'DELETE', path: `/captures/${uid}` })).catch(() => undefined)
  }

  /** Closes the connections. */
  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  /** Sends a request signed by the runner's clock. A 401 whose Date shows a different clock is retried with the corrected time. */
  async #request(runner: RunnerAddress, buildRequest: () => RunnerRequest, milliseconds = RESPONSE_MILLISECONDS): Promise<HttpResponse> {
    const response = await this.#send(runner, buildRequest(), milliseconds)
    const hasMoved = this.#clocks.note(runner.uid, response.date, this.#now())
    return response.status === 401 && hasMoved ? this.#send(runner, buildRequest(), milliseconds) : response
  }

  async #send(
    { uid, ip }: RunnerAddress,
    { method, path, body, jti, wait = NO_WAIT }: RunnerRequest,
    milliseconds: number,
  ): Promise<HttpResponse> {
    const signed = { podUid: uid, method, path, ...(body === undefined ? {} : { body }), ...(jti === undefined ? {} : { jti }) }
    const authorization = await this.#sign(signed, new Date(this.#now() + this.#clocks.of(uid)))
    const response = await (method === 'GET' ? this.#agent : this.#writer).request({
      origin: `http://${ip.includes(':') ? `[${ip}]` : ip}:${this.#port}`,
      method,
      path,
      headers: {
        authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/jose' }),
        ...(wait.seconds === 0 ? {} : { prefer: `wait=${wait.seconds}${wait.until === 'taken' ? ', until=taken' : ''}` }),
      },
      body: body ?? null,
      signal: AbortSignal.timeout(milliseconds),
    })
    const text = (await readAtMost(response.body, MAX_BODY_BYTES)).toString()
    return {
      status: response.statusCode,
      body: parseJson(text),
      date: Date.parse(String(response.headers.date ?? '')),
    }
  }
}

// Encrypts orders as compact JWE (RFC 7516) with a new key for each order: ECDH-ES with X25519, A256GCM. It uses synchronous node:crypto:
// WebCrypto needs six thread pool jobs, and waiting for them took an eighth of the operator's time per capture. Runners decrypt with a
// library.

const ENCRYPTION = 'A256GCM'
const KEY_BITS = 256
const NONCE_BYTES = 12

/** Public key of a runner, as a KeyObject. */
export type EncryptionKey = KeyObject

/** @throws when the key has another type */
export const toEncryptionKey = ({ publicKey }: Pick<Identity, 'publicKey'>): EncryptionKey =>
  createPublicKey({ key: publicKey, format: 'jwk' })

/** Encrypts a text so that only the holder of the key can read it. */
export function encryptOrder(text: string, key: EncryptionKey): string {
  const own = generateKeyPairSync('x25519')
  const { kty, crv, x } = own.publicKey.export({ format: 'jwk' })
  const header = toBase64(JSON.stringify({ alg: 'ECDH-ES', enc: ENCRYPTION, epk: { kty, crv, x } }))
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', deriveKey(diffieHellman({ privateKey: own.privateKey, publicKey: key })), nonce)
  cipher.setAAD(Buffer.from(header, 'ascii'))
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  // The second part, an encrypted key, is empty with direct key agreement.
  return [header, '', toBase64(nonce), toBase64(ciphertext), toBase64(cipher.getAuthTag())].join('.')
}

/** Concat KDF of RFC 7518, 4.6.2, without party info. One round is enough, because the key is as long as the hash. */
function deriveKey(secret: Buffer): Buffer {
  const round = toNumber(1)
  const algorithm = [toNumber(ENCRYPTION.length), Buffer.from(ENCRYPTION)]
  const parties = [toNumber(0), toNumber(0)]
  return createHash('sha256')
    .update(Buffer.concat([round, secret, ...algorithm, ...parties, toNumber(KEY_BITS)]))
    .digest()
}

function toNumber(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const toBase64 = (data: string | Buffer): string => Buffer.from(data as string).toString('base64url')

/** The request to sign and the pod for which the signature is valid. Without a `jti`, a random one is used. */
interface RequestToSign {
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

// Clock differences between the runners' nodes and this process, measured by the Date header of responses. Clocks drift, and signatures and
// deadlines are accurate to seconds, so both use the runner's time.

/** A Date header is truncated to seconds and delayed by the network: smaller differences are ignored. */
const NOISE_MILLISECONDS = 2_000
/** Larger differences are not compensated: a signature for such a clock would be valid too long elsewhere. */
export const MAX_OFFSET_MILLISECONDS = 900_000
const MAX_REMEMBERED = 4_096

/** Offsets by pod uid. */
export class ClockOffsets {
  readonly #ahead = new LRUCache<string, number>({ max: MAX_REMEMBERED })

  /** Milliseconds by which the clock is ahead; 0 when it agrees or is unknown. */
  of(uid: string): number {
    return this.#ahead.get(uid) ?? 0
  }

  /** Records the Date of a response. Returns true when the offset changed. NaN is ignored. */
  note(uid: string, date: number, now: number): boolean {
    const seen = date - now
    if (Number.isNaN(seen) || Math.abs(seen) > MAX_OFFSET_MILLISECONDS) return false
    const before = this.of(uid)
    if (Math.abs(seen - before) <= NOISE_MILLISECONDS) return false
    if (Math.abs(seen) > NOISE_MILLISECONDS) this.#ahead.set(uid, seen)
    else this.#ahead.delete(uid)
    return true
  }
}
