import { type CaptureOrder, CaptureState, GivenUp, Identity } from '@tintype/crds/dispatch/dispatch'
import { RUNNER_PORT } from '@tintype/crds/identifiers/names'
import { FencedError, fence, type MayWrite } from '@tintype/crds/runtime/fence'
import { MAX_HEADER_BYTES, readAtMost } from '@tintype/crds/runtime/limited-read'
import { parseJson } from '@tintype/crds/text/json'
import { Agent, type Dispatcher } from 'undici'
import { ClockOffsets } from './clock-offsets.ts'
import { type EncryptionKey, encryptOrder } from './encrypt-order.ts'
import type { Signer } from './signature.ts'

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
export interface Wait {
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
