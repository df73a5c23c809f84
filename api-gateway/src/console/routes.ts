import { createReadStream } from 'node:fs'
import { apiKeyIdOf } from '@tintype/crds/identifiers/ids'
import { type ApiKey, scopesOf } from '@tintype/crds/kinds/api-key'
import { accountOf } from '@tintype/crds/records/record'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ApiError, invalid, notFound } from '../common/errors.ts'
import { API_VERSION } from '../common/version.ts'
import { hasTag, prefersHtml } from '../http/headers.ts'
import { type ConsoleFiles, chooseForm, toPageHeaders } from './files.ts'
import { CODE_MILLISECONDS, isFromConsole, type Sessions, toEndedCookie, toSessionCookie } from './sessions.ts'

// The web console: its page and files, and its sessions. These routes are not part of the REST API, which the console itself uses.

export interface ConsoleDeps {
  console: ConsoleFiles
  sessions: Sessions
  /** Origin of links to the object store. Undefined: links lead to the gateway. */
  storeOrigin: string | undefined
  now: () => Date
}

/** Names of assets contain a hash of their content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'
const SECRET = { 'cache-control': 'no-store' }
const MAX_BODY_BYTES = 4_096

/** What programs get at `/`. */
const INDEX = {
  name: 'Tintype',
  version: API_VERSION,
  links: { api: '/api/v1', openapi: '/api/v1/openapi.json', reference: '/docs', status: '/api/v1/status' },
}

const CodeBody = z.strictObject({ code: z.string().max(2_048) })
const SignIn = z.union([z.strictObject({ api_key: z.string().max(256) }), CodeBody])

/** For whom a key acts, as the console shows it. */
const toIdentity = (apiKey: ApiKey, more: object = {}) => {
  const { metadata, spec } = apiKey
  return { account: accountOf(apiKey), key: { id: apiKeyIdOf(metadata), name: spec.name ?? metadata.name, ...more } }
}

const toSessionBody = (apiKey: ApiKey, more: object = {}) => ({
  success: true,
  data: { ...toIdentity(apiKey, { scopes: scopesOf(apiKey) }), ...more },
})

/** @throws ApiError unless the request is from the console's page */
function assertFromConsole({ headers }: FastifyRequest): void {
  if (isFromConsole(headers)) return
  const message =
    headers['sec-fetch-site'] === undefined
      ? 'the browser sends no header Sec-Fetch-Site: open the console with https, or at localhost'
      : 'only the web console may do this: its requests have the headers X-Tintype-Console: 1 and Sec-Fetch-Site: same-origin'
  throw new ApiError('UNAUTHORIZED', message)
}

/** Without a session, the console asks for an API key. That is not an error. */
function ignoreEnded(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'UNAUTHORIZED') return undefined
  throw error
}

function addPage(app: FastifyInstance, { console: files, storeOrigin }: ConsoleDeps): void {
  const headers = { ...toPageHeaders(storeOrigin), etag: files.tag, 'cache-control': 'no-cache' }
  app.get('/', (request, reply) => {
    reply.header('vary', 'accept')
    if (!prefersHtml(request.headers.accept)) return reply.header('cache-control', 'no-cache').send(INDEX)
    reply.headers(headers)
    if (hasTag(request.headers['if-none-match'], files.tag)) return reply.code(304).send()
    return reply.type('text/html; charset=utf-8').send(files.page)
  })
  // People guess this URL. The targets are relative, because a proxy may serve the console below a path.
  app.get('/console', (_, reply) => reply.redirect('./', 302))
  app.get('/console/', (_, reply) => reply.redirect('../', 302))
  app.get<{ Params: { name: string } }>('/console/assets/:name', (request, reply) => {
    const asset = files.assets.get(request.params.name)
    if (!asset) throw notFound('file')
    const form = chooseForm(asset, request.headers['accept-encoding'])
    if (form.encoding) reply.header('content-encoding', form.encoding)
    return reply
      .headers({ 'cache-control': IMMUTABLE, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' })
      .type(asset.type)
      .send(createReadStream(form.path))
  })
}

/** The check runs before a body is read. */
const forConsole = { onRequest: async (request: FastifyRequest) => assertFromConsole(request) }
const withBody = { ...forConsole, config: { maxBodyBytes: MAX_BODY_BYTES } }

function addSessions(app: FastifyInstance, { sessions, now }: ConsoleDeps): void {
  app.get('/console/session', forConsole, async (request, reply) => {
    const session = await sessions.find(request.headers).catch(ignoreEnded)
    const body = session ? toSessionBody(session.apiKey, { expires_at: session.expiresAt.toISOString() }) : { success: true, data: null }
    return reply.headers(SECRET).send(body)
  })

  app.post('/console/session', withBody, async (request, reply): Promise<FastifyReply> => {
    const { data } = SignIn.safeParse(request.body)
    if (!data) throw invalid([{ path: '', code: 'invalid_type', message: 'the body must have api_key or code' }])
    const { apiKey, token } = await ('code' in data ? sessions.beginWithCode(data.code) : sessions.beginWithKey(data.api_key.trim()))
    reply.headers({ ...SECRET, 'set-cookie': toSessionCookie(token, request.headers) })
    return reply.send(toSessionBody(apiKey))
  })

  app.delete('/console/session', forConsole, async (request, reply) => {
    const session = await sessions.find(request.headers)
    if (session) await sessions.end(session.apiKey)
    return reply
      .code(204)
      .headers({ ...SECRET, 'set-cookie': toEndedCookie(request.headers) })
      .send()
  })

  app.post('/console/codes', async (request, reply) => {
    const { code } = await sessions.issueCode(request.headers.authorization)
    const expiresAt = new Date(now().getTime() + CODE_MILLISECONDS).toISOString()
    return reply
      .code(201)
      .headers(SECRET)
      .send({ success: true, data: { code, path: `/#code=${code}`, expires_at: expiresAt } })
  })
}

/** The console names the account and the key of a sign-in link before it signs a visitor in. Otherwise a link could do that unnoticed. */
function addDescription(app: FastifyInstance, { sessions }: ConsoleDeps): void {
  app.post('/console/codes/describe', withBody, async (request, reply) => {
    const { data } = CodeBody.safeParse(request.body)
    if (!data) throw invalid([{ path: '', code: 'invalid_type', message: 'the body must have code' }])
    return reply.headers(SECRET).send({ success: true, data: toIdentity(await sessions.describeCode(data.code)) })
  })
}

/** Adds the console's routes. */
export function addConsoleRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  addPage(app, deps)
  addSessions(app, deps)
  addDescription(app, deps)
}
