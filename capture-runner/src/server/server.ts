import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type Identity, MAX_WAIT_SECONDS, type SandboxReport, type VideoReport } from '@tintype/crds/dispatch/dispatch'
import { MAX_SEALED_BYTES } from '@tintype/crds/options/private'
import type { Logger } from 'pino'
import type { OrderKeys, Verifier } from './authentication.ts'
import type { Runner } from './runner.ts'

// The server side of the dispatch protocol (crds/src/dispatch/dispatch.ts). It checks the signature, then the hash of the body, then decrypts. All but
// the operator get 401, and nothing of their body is parsed.

/** What the server needs. */
export interface ServerParts {
  runner: Runner
  verifier: Verifier
  keys: OrderKeys
  sandbox: SandboxReport
  version: string
  /** Date of the filter lists, ISO 8601; absent: there are none. */
  listsUpdated?: string | undefined
  /** Whether it records videos; absent: it was not started for them. */
  video?: VideoReport | undefined
  /** The projected token with audience `tintype-dispatch`, which the kubelet renews on disk. */
  tokenFile: string
  isReady: () => boolean
  /** Whether this pod can take screenshots; absent: always true. */
  isAlive?: () => boolean
  log: Logger
}

/** Enough for the largest options of an object in the bucket, those in the Screenshot itself, and the rest of an order. */
const MAX_BODY_BYTES = MAX_SEALED_BYTES + 1024 * 1024
const HEADERS_MILLISECONDS = 5_000
const REQUEST_MILLISECONDS = 15_000

interface Reply {
  status: number
  body?: unknown
}

/** Creates the server. The caller starts listening. */
export function buildServer(parts: ServerParts): Server {
  const server = createServer({ headersTimeout: HEADERS_MILLISECONDS, requestTimeout: REQUEST_MILLISECONDS }, (request, response) => {
    answer(parts, request).then(
      (reply) => send(request, response, reply),
      (error: unknown) => {
        parts.log.warn({ err: error }, 'request failed')
        send(request, response, { status: 500 })
      },
    )
  })
  // Longer than the operator keeps its connections, so that no connection closes during a request.
  server.keepAliveTimeout = 120_000
  return server
}

async function answer(parts: ServerParts, request: IncomingMessage): Promise<Reply> {
  const { method = '', url: path = '' } = request
  if (method === 'GET' && path === '/healthz') return toHealth(parts.isAlive?.() ?? true)
  if (method === 'GET' && path === '/readyz') return { status: parts.isReady() ? 200 : 503, body: { ready: parts.isReady() } }
  const verified = await parts.verifier.verify({ method, path, authorization: request.headers.authorization })
  if (!verified) return { status: 401 }
  const body = await readBody(request)
  if (!body || !verified.covers(body)) return { status: 401 }
  return route(parts, { method, path, prefer: request.headers.prefer }, body)
}

const toHealth = (ok: boolean): Reply => ({ status: ok ? 200 : 503, body: { ok } })

interface Verified {
  method: string
  path: string
  prefer: string | string[] | undefined
}

const CAPTURE_PATH = /^\/captures\/([\w-]{1,64})$/

async function route(parts: ServerParts, { method, path, prefer }: Verified, body: Buffer): Promise<Reply> {
  if (method === 'GET' && path === '/identity') return { status: 200, body: await identify(parts) }
  if (method === 'POST' && path === '/captures') return accept(parts, body)
  const [, uid] = CAPTURE_PATH.exec(path) ?? []
  if (uid === undefined) return { status: 404 }
  if (method === 'GET') return getCapture(parts.runner, uid, parsePrefer(prefer))
  if (method === 'DELETE') return { status: parts.runner.cancel(uid) ? 202 : 404 }
  return { status: 405 }
}

interface WaitOptions {
  seconds: number
  until: 'taken' | 'finished'
}

async function getCapture(runner: Runner, uid: string, { seconds, until }: WaitOptions): Promise<Reply> {
  if (seconds > 0) await runner.whenFinished(uid, seconds * 1_000, until)
  const state = runner.find(uid)
  return state ? { status: 200, body: state } : { status: 404, body: runner.findGivenUp(uid) }
}

function parsePrefer(prefer: string | string[] | undefined): WaitOptions {
  const [, seconds = '0', until] = /^wait=(\d{1,3})(, until=taken)?$/.exec(String(prefer ?? '')) ?? []
  return { seconds: Math.min(MAX_WAIT_SECONDS, Number(seconds)), until: until === undefined ? 'finished' : 'taken' }
}

async function accept({ runner, keys, isReady, log }: ServerParts, body: Buffer): Promise<Reply> {
  const order = await keys.open(body.toString('latin1')).catch((error: unknown) => {
    log.warn({ err: error }, 'order cannot be opened')
    return undefined
  })
  if (!order) return { status: 400 }
  const { kind, state } = runner.accept(order)
  if (kind === 'accepted') log.debug({ uid: order.uid, attempt: order.attempt, isReady: isReady() }, 'order accepted')
  return { status: STATUS[kind], body: state }
}

const STATUS = { accepted: 202, known: 200, busy: 409, closed: 503 } as const

async function identify({ runner, keys, tokenFile, sandbox, version, listsUpdated, video }: ServerParts): Promise<Identity> {
  const token = await readFile(tokenFile, 'utf8')
  return {
    publicKey: keys.publicKey,
    token: token.trim(),
    sandbox,
    version,
    ...(listsUpdated === undefined ? {} : { listsUpdated }),
    ...(video === undefined ? {} : { video }),
    ...runner.history(),
  }
}

/** Returns undefined for a body that is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function send(request: IncomingMessage, response: ServerResponse, { status, body }: Reply): void {
  // The connection must close, because the unread body would be parsed as the next request.
  if (!request.complete) response.shouldKeepAlive = false
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = text === '' ? {} : { 'content-type': 'application/json' }
  response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(text)) }).end(text)
}
