import type { Scope } from '@tintype/crds/kinds/api-key'
import type { HttpErrorCode } from '@tintype/crds/schema/errors'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { type BodyDocumentation, type BodyReader, MAX_BODY_BYTES } from './body.ts'
import { type HeaderName, isLenient, NO_CACHE, setIgnoredOptionsHeader } from './headers.ts'
import { ifMatch, ifNoneMatch, type Parameter } from './parameters.ts'
import { type CheckQuery, type QueryOf, type QueryParameters, type RawQuery, readQuery } from './query.ts'

// Types of a route. A route is declared once: the gateway registers and validates it, and the OpenAPI document describes it, from this object.

/** A link from a response to another operation. */
export interface Link {
  operationId: string
  description: string
  parameters: Readonly<Record<string, string>>
}

/** Returns a link to the operation for the id at a place of the response's body. */
export const linkTo = (operationId: string, description: string, place = 'data/id'): Link => ({
  operationId,
  description,
  parameters: { id: `$response.body#/${place}` },
})

export interface ResponseSpec {
  description: string
  /** Named schema of the JSON body. Absent for an empty body or `files`. */
  schema?: z.ZodType
  example?: unknown
  /** The response can be the file of a screenshot, a video or either (`capture`), or with `every` also an artifact. */
  files?: 'screenshot' | 'video' | 'capture' | 'every'
  headers?: readonly HeaderName[]
  links?: Readonly<Record<string, Link>>
}

export type Tag =
  | 'Screenshots'
  | 'Videos'
  | 'Batches'
  | 'Devices'
  | 'Schedules'
  | 'Webhooks'
  | 'API keys'
  | 'Usage'
  | 'Service'
  | 'System'
  | 'Files'
  | 'Links'

type Path = `/${string}`
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'
/** Method and path, such as `GET /keys/{id}`. */
type Target = `${Uppercase<Method>} ${Path}`

/** A route as the OpenAPI document describes it. */
export interface Operation {
  id: string
  method: Method
  /** Path below `/api/v1`. */
  path: Path
  /** True when the path is not below `/api/v1`. */
  isOutsideApi?: true
  tag: Tag
  /** Scope that the key needs. Absent for public operations. */
  scope?: Scope
  /** Scope of the key in a request that has one. The handler authenticates requests, and also accepts signed ones. */
  optionalScope?: Scope
  summary: string
  description?: string
  parameters?: readonly Parameter[]
  /**
   * Query parameters that the route parses. Without any, a query is an error. `unchecked`: the query is not validated, and the handler reads it from
   * the request.
   */
  query?: QueryParameters | 'unchecked'
  body?: BodyDocumentation
  /** Responses without an error, by status. */
  responses: Readonly<Record<number, ResponseSpec>>
  /** Error codes of this operation, in addition to the common ones. */
  errors?: readonly HttpErrorCode[]
  /** Errors are PNG pictures if the request asks for that. */
  hasErrorImages?: true
  /** Accepts an Idempotency-Key. */
  isKeyed?: true
}

/** What a handler gets. */
export interface Input<Params = object, Body = undefined, Query = object> {
  request: FastifyRequest
  reply: FastifyReply
  params: Params
  body: Body
  query: Query
}

/** `/keys/{id}` → `{ id: string }`. */
type ParamsOf<Route extends string> = Route extends `${string}{${infer Name}}${infer Rest}`
  ? { [Key in Name]: string } & ParamsOf<Rest>
  : object

type Handle<Input, Deps> = (input: Input, deps: Deps) => unknown

interface Registration {
  /** URL for Fastify, where it differs from the path. */
  url?: Path
  /** The handler also responds to HEAD. Otherwise Fastify calls it and drops the body. */
  handlesHead?: true
}

interface Declaration<Deps, Route extends Target, Body, Parameters extends QueryParameters>
  extends Omit<Operation, 'method' | 'path' | 'query' | 'body' | 'tag'>,
    Registration {
  tag?: Tag
  query?: Parameters | 'unchecked'
  checkQuery?: CheckQuery<QueryOf<Parameters>>
  body?: BodyReader<Body, Deps>
  handle: Handle<Input<ParamsOf<Route>, Body, QueryOf<Parameters>>, Deps>
}

/** A declared route. `Deps` are the dependencies of its handler. The document needs none. */
export interface Route<Deps> extends Operation, Registration {
  checkQuery?: CheckQuery<never>
  body?: BodyReader<unknown, Deps>
  handle: Handle<Input<object, unknown>, Deps>
}

const NOT_MODIFIED: ResponseSpec = { description: 'The client already has this version.', headers: ['ETag', 'Cache-Control'] }

/**
 * Returns a function that declares routes whose handlers have these dependencies. It infers the types of parameters, query and body.
 * Routes with If-None-Match also respond with 304. The headers of a condition, an Idempotency-Key, a body or a scope are added to the responses.
 * @param own parameters of paths, for the routes whose path names them
 */
export const routeFor =
  <Deps = unknown>(tag?: Tag, ...own: readonly Parameter[]) =>
  <const To extends Target, Body = undefined, Parameters extends QueryParameters = Record<never, never>>(
    target: To,
    declaration: Declaration<Deps, To, Body, Parameters>,
  ): Route<Deps> => {
    const [method = '', path = ''] = target.split(' ')
    const { parameters = [], scope, isKeyed, body } = declaration
    const all = [...own.filter(({ name }) => path.includes(`{${name}}`)), ...parameters]
    const isConditional = all.includes(ifNoneMatch) || all.includes(ifMatch)
    const responses = Object.entries(declaration.responses).map(([status, response]) => {
      const { schema, headers = [] } = response
      const described = new Set<HeaderName>(headers)
      if (isConditional && schema) described.add('ETag')
      if (scope) described.add('Cache-Control')
      if (isKeyed) described.add('Idempotent-Replayed')
      if (body) described.add('X-Ignored-Options')
      return [status, { ...response, headers: [...described] }] as const
    })
    const documented = { ...(all.includes(ifNoneMatch) && { 304: NOT_MODIFIED }), ...Object.fromEntries(responses) }
    const operation = { tag, ...declaration, method: method.toLowerCase(), path, responses: documented }
    return { ...operation, ...(all.length > 0 && { parameters: all }) } as unknown as Route<Deps>
  }

// Registers declared routes with Fastify. Authentication runs before, in onRequest. The query is checked before the body, and both before the handler.

/** Every route exists under both prefixes. */
const PREFIXES = ['/api/v1', '/v1']

const toUrl = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

function addRoute<Deps>(app: FastifyInstance, route: Route<Deps>, deps: Deps): void {
  const { method, path, url = toUrl(path), scope, query = {}, checkQuery, body, handlesHead, handle } = route
  const name = method.toUpperCase()
  app.route<{ Params: object; Querystring: RawQuery }>({
    method: handlesHead ? [name, 'HEAD'] : name,
    url,
    ...(handlesHead ? { exposeHeadRoute: false } : {}),
    config: {
      ...(scope === undefined ? {} : { scope }),
      ...(body ? { maxBodyBytes: body.maxBytes ?? MAX_BODY_BYTES } : {}),
    },
    handler: async (request, reply) => {
      const parsed = query === 'unchecked' ? {} : readQuery(request.query, query, checkQuery as CheckQuery<object> | undefined)
      const read = body?.read(request.body, { isLenient: isLenient(request.headers.prefer), deps })
      if (scope !== undefined) reply.headers(NO_CACHE)
      setIgnoredOptionsHeader(reply, read?.ignored ?? [])
      const input = { request, reply, params: request.params, query: parsed, body: read?.body }
      return handle(input as Parameters<typeof handle>[0], deps)
    },
  })
}

/** Adds routes with the dependencies of their handlers. */
export function addRoutes<Deps>(app: FastifyInstance, routes: readonly Route<Deps>[], deps: Deps): void {
  const [outside, inside] = [routes.filter(({ isOutsideApi }) => isOutsideApi), routes.filter(({ isOutsideApi }) => !isOutsideApi)]
  for (const prefix of PREFIXES) {
    app.register(
      async (scope) => {
        for (const route of inside) addRoute(scope, route, deps)
      },
      { prefix },
    )
  }
  app.register(async (scope) => {
    for (const route of outside) addRoute(scope, route, deps)
  })
}
