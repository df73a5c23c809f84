import { type CaptureOrder, CaptureState, GivenUp, Identity } from '@tintype/crds/dispatch'
import { MAX_HEADER_BYTES, readAtMost } from '@tintype/crds/limited-read'
import { RUNNER_PORT } from '@tintype/crds/names'
import { Agent, type Dispatcher } from 'undici'
import { ClockOffsets } from './clock-offsets.ts'
import { type EncryptionKey, encryptOrder } from './encrypt-order.ts'
import type { Signer } from './signature.ts'

// The operator's side of the dispatch protocol (crds/src/dispatch.ts). What a runner answers, or does not, becomes one of a few
// words here; what they mean is decided elsewhere.

/** Where a runner listens, and the pod that a signature is for. */
export interface RunnerAddress {
  uid: string
  ip: string
}

/**
 * What became of an order: `accepted` (now or before); `busy` with another capture; `refused`: this runner will never do it; `unavailable`:
 * it answers, and not now; `silent`: nobody knows; `unsent`: this leader does not know its key yet.
 */
export type PostOutcome =
  | { outcome: 'accepted' | 'silent' | 'unavailable' | 'unsent' }
  | { outcome: 'refused'; status: number; clockAheadMilliseconds: number }
  | { outcome: 'busy'; with: CaptureState }

/** What a runner says of a capture: its state, `absent` when it does not know it, `silent` when it does not answer. */
export type CaptureAnswer = CaptureState['state'] | 'absent' | 'silent'

/** A runner's answer; `givenUp` goes with `absent`: it had the capture and says why it ended it. */
export interface Told {
  answer: CaptureAnswer
  givenUp?: GivenUp | undefined
  /** With `running`: the picture is being taken or stored, and the runner takes another order meanwhile. */
  isTaken?: boolean
}

interface Answer {
  status: number
  body: unknown
  /** By the runner's clock, epoch milliseconds; NaN when it does not say. */
  date: number
}

interface Question {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  body?: string
  jti?: string
  wait?: Wait
}

/** How long a question stays open: until the capture is not running any more, or already until its picture is being taken. */
export interface Wait {
  seconds: number
  until: 'taken' | 'settled'
}

const NO_WAIT: Wait = { seconds: 0, until: 'settled' }

const CONNECT_MILLISECONDS = 1_000
const ANSWER_MILLISECONDS = 2_000
/** The runner decrypts and answers before it captures. */
const POST_MILLISECONDS = 5_000
/** A response is an identity with its token, or a state: a few KiB. */
const MAX_BODY_BYTES = 64 * 1024

/** Talks to runners over kept connections. */
export class RunnerClient {
  readonly #sign: Signer
  readonly #agent: Dispatcher = new Agent({
    connect: { timeout: CONNECT_MILLISECONDS },
    allowH2: false,
    keepAliveTimeout: 30_000,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
  })
  readonly #port: number
  readonly #now: () => number
  readonly #clocks = new ClockOffsets()

  /** @param options.now this program's clock, epoch milliseconds */
  constructor(sign: Signer, { port = RUNNER_PORT, now = Date.now }: { port?: number; now?: () => number } = {}) {
    this.#sign = sign
    this.#now = now
    this.#port = port
  }

  /** By how much a runner's clock is ahead of this one's, as it last said; 0 when they agree. */
  clockAheadMilliseconds({ uid }: Pick<RunnerAddress, 'uid'>): number {
    return this.#clocks.of(uid)
  }

  /**
   * Asks a runner who it is. The answer is a claim: see identity.ts.
   * @throws when it does not answer, or not as an Identity
   */
  async identity(runner: RunnerAddress): Promise<Identity> {
    const { status, body } = await this.#request(runner, () => ({ method: 'GET', path: '/identity' }))
    if (status !== 200) throw new Error(`the runner answered ${status} to GET /identity`)
    return Identity.parse(body)
  }

  /** Hands over an order, encrypted to the runner's key. */
  async post(runner: RunnerAddress, key: EncryptionKey, order: CaptureOrder): Promise<PostOutcome> {
    const question = (): Question => {
      // The deadline is kept by the runner's clock.
      const timed = { ...order, deadline: order.deadline + this.#clocks.of(runner.uid) }
      const body = encryptOrder(JSON.stringify(timed), key)
      return { method: 'POST', path: '/captures', body, jti: `${order.uid}/${order.attempt}` }
    }
    const answer = await this.#request(runner, question, POST_MILLISECONDS).catch(() => undefined)
    if (!answer) return { outcome: 'silent' }
    if (answer.status === 200 || answer.status === 202) return { outcome: 'accepted' }
    const { data: other } = answer.status === 409 ? CaptureState.safeParse(answer.body) : {}
    if (other) return { outcome: 'busy', with: other }
    if (answer.status === 409 || answer.status >= 500) return { outcome: 'unavailable' }
    return { outcome: 'refused', status: answer.status, clockAheadMilliseconds: this.#clocks.of(runner.uid) }
  }

  /**
   * Asks for one attempt of a capture. A runner that knows another attempt does not know this one.
   * @param wait a runner that still works answers when it does not any more, or after that time; at most {@link MAX_WAIT_SECONDS}
   */
  async ask(runner: RunnerAddress, uid: string, attempt: number, wait = NO_WAIT): Promise<Told> {
    const question: Question = { method: 'GET', path: `/captures/${uid}`, wait }
    const answer = await this.#request(runner, () => question, ANSWER_MILLISECONDS + wait.seconds * 1_000).catch(() => undefined)
    if (answer?.status === 404) {
      const { data } = GivenUp.safeParse(answer.body)
      return { answer: 'absent', ...(data?.attempt === attempt ? { givenUp: data } : {}) }
    }
    if (answer?.status !== 200) return { answer: 'silent' }
    const state = CaptureState.safeParse(answer.body)
    if (!state.success) return { answer: 'silent' }
    if (state.data.attempt !== attempt) return { answer: 'absent' }
    return { answer: state.data.state, ...(state.data.isTaken ? { isTaken: true } : {}) }
  }

  /** Tells a runner to drop a capture. Who does not answer is left to the deadline. */
  async cancel(runner: RunnerAddress, uid: string): Promise<void> {
    await this.#request(runner, () => ({ method: 'DELETE', path: `/captures/${uid}` })).catch(() => undefined)
  }

  /** Ends the connections. */
  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  /** One request, signed by the runner's clock: whose differs too much for a signature to hold tells so by the date of its refusal. */
  async #request(runner: RunnerAddress, question: () => Question, milliseconds = ANSWER_MILLISECONDS): Promise<Answer> {
    const answer = await this.#send(runner, question(), milliseconds)
    const hasMoved = this.#clocks.note(runner.uid, answer.date, this.#now())
    return answer.status === 401 && hasMoved ? this.#send(runner, question(), milliseconds) : answer
  }

  async #send({ uid, ip }: RunnerAddress, { method, path, body, jti, wait = NO_WAIT }: Question, milliseconds: number): Promise<Answer> {
    const signed = { podUid: uid, method, path, ...(body === undefined ? {} : { body }), ...(jti === undefined ? {} : { jti }) }
    const authorization = await this.#sign(signed, new Date(this.#now() + this.#clocks.of(uid)))
    const answer = await this.#agent.request({
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
    const text = (await readAtMost(answer.body, MAX_BODY_BYTES)).toString()
    return { status: answer.statusCode, body: text === '' ? undefined : parse(text), date: Date.parse(String(answer.headers.date ?? '')) }
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
