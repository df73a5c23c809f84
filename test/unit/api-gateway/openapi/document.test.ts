import { isDeepStrictEqual } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import type { Operation } from '../../../../api-gateway/src/http/route.ts'
import { API_PREFIX, buildDocument, EVENTS, pathOf } from '../../../../api-gateway/src/openapi/document.ts'
import { errorsOf, parametersOf } from '../../../../api-gateway/src/openapi/operations.ts'
import { routes } from '../../../../api-gateway/src/resources/all.ts'
import { assertEvery } from '../../../support/accepts.ts'
import { findOperation, findUndocumented } from '../../../support/sources/documented.ts'
import { aGateway } from '../fakes.ts'

interface Route {
  method: string
  url: string
  scope: string | undefined
}

/** `/screenshots/:id` → `/screenshots/{id}`, and the one wildcard as the document spells it out. */
const toDocumented = (url: string): string => url.replaceAll(/:(\w+)/g, '{$1}').replace('/files/*', '/files/users/{account}/{file}')

/** Pages for people, which no program calls, and the endpoint of a protocol that describes itself. */
const isOfOthers = (url: string): boolean => url.startsWith('/docs') || url === '/mcp'

/** What fastify serves, as the document should have it: HEAD goes with GET, and `/v1` is the same as `/api/v1`. */
async function findRoutes(): Promise<Route[]> {
  const found: Route[] = []
  const { app } = aGateway()
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const name of [method].flat()) found.push({ method: name.toLowerCase(), url, scope: config?.scope })
  })
  await app.ready()
  return found
    .filter(({ method, url }) => !['head', 'options'].includes(method) && !url.startsWith('/v1/') && !isOfOthers(url))
    .map(({ url, ...rest }) => ({ ...rest, url: toDocumented(url) }))
}

const nameOf = ({ method, url, scope = 'public' }: Route): string => `${method} ${url} ${scope}`
const toRoute = (operation: Operation): Route => ({ method: operation.method, url: pathOf(operation), scope: operation.scope })

t.test('the document has exactly the routes, with their scopes', async (t) => {
  const registered = (await findRoutes()).map(nameOf).sort()
  t.strictSame(routes.map(toRoute).map(nameOf).sort(), registered)
})

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const { valid, errors } = await new Validator().validate(structuredClone(buildDocument()))
  t.ok(valid, JSON.stringify(errors, null, 2))
})

t.test('every tag has a description and an operation', async (t) => {
  const { tags = [], paths = {} } = buildDocument() as {
    tags?: { name: string }[]
    paths?: Record<string, Record<string, { tags?: string[] }>>
  }
  const used = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap((operation) => operation.tags ?? ['none']))
  t.strictSame([...new Set(used)].sort(), tags.map(({ name }) => name).sort())
})

t.test('the document leads every reference to something', async (t) => {
  const document = buildDocument()
  const text = JSON.stringify(document)
  const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path))
  t.ok(references.size > 20)
  // biome-ignore lint/suspicious/noExplicitAny: a path through a document of any shape
  const targetOf = (reference: string) => reference.split('/').reduce<any>((place, step) => place?.[step], document)
  assertEvery(t, [...references], targetOf)
  const names = Object.keys(document.components.schemas)
  assertEvery(t, names, (name) => references.has(`components/schemas/${name}`), 'no schema is left over')
})

t.test('the document tells operations apart by their ids', async (t) => {
  const ids = routes.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('the document has links lead to operations and to parameters that they have', async (t) => {
  const links = routes.flatMap(({ id, responses }) =>
    Object.values(responses).flatMap(({ links = {} }) => Object.values(links).map((link) => ({ from: id, ...link }))),
  )
  t.ok(links.length > 10)
  const targets = links.map(({ from, operationId }) => {
    const target = routes.find(({ id }) => id === operationId)
    const names =
      target &&
      parametersOf(target)
        .filter((parameter) => parameter.in === 'path')
        .map(({ name }) => name)
    return { from, operationId, parameters: names }
  })
  t.strictSame(
    links.map(({ from, operationId, parameters }) => ({ from, operationId, parameters: Object.keys(parameters) })),
    targets,
  )
})

t.test('the document gives examples that its schemas accept, and that say nothing else', async (t) => {
  const examples = routes.flatMap((operation) => {
    const { id, body, responses } = operation
    return [
      ...Object.entries(body?.examples ?? {}).map(([name, { value }]) => ({ of: `${id}: ${name}`, schema: body?.schema, example: value })),
      ...Object.entries(responses).map(([status, { schema, example }]) => ({ of: `${id}: ${status}`, schema, example })),
      ...parametersOf(operation).map(({ name, schema, example }) => ({ of: `${id}: ${name}`, schema, example })),
    ]
  })
  const events = EVENTS.map(({ type, schema, example }) => ({ of: type, schema, example }))
  const all = [...examples, ...events].filter(({ schema, example }) => schema && example !== undefined)
  t.ok(all.length > 100)
  assertEvery(t, all, ({ schema, example }) => isDeepStrictEqual(schema?.safeParse(example).data, example))
})

t.test('the document shows a body and an answer of every operation that has them', async (t) => {
  const missing = routes.flatMap(({ id, method, body, responses }) => [
    ...(body && Object.keys(body.examples).length === 0 ? [`${id}: an example of its body`] : []),
    ...(Object.keys(responses).length === 0 ? [`${id}: a response`] : []),
    ...(['put', 'patch'].includes(method) && !body ? [`${id}: a body`] : []),
    ...Object.entries(responses)
      .filter(([, { schema, example }]) => schema && id !== 'getOpenApiDocument' && !example)
      .map(([status]) => `${id}: an example of ${status}`),
  ])
  t.strictSame(missing, [])
})

t.test('the document tells each refusal with its codes', async (t) => {
  const { paths, components } = buildDocument()
  const refusals = routes.flatMap((operation) =>
    [...errorsOf(operation)].map(([status, codes]) => ({ operation, status, codes: [...codes] })),
  )
  t.ok(refusals.length > 100)
  const documented = refusals.map(({ operation, status }) => {
    // biome-ignore lint/suspicious/noExplicitAny: a path through a document
    const response = (paths as any)[pathOf(operation)][operation.method].responses[status]
    const { content } = response.$ref ? components.responses[response.$ref.split('/').at(-1)]! : response
    return { id: operation.id, status, codes: Object.keys(content['application/json'].examples) }
  })
  t.strictSame(
    documented,
    refusals.map(({ operation, status, codes }) => ({ id: operation.id, status, codes })),
  )
})

t.test('the document gives each query parameter an example that its parser accepts', async (t) => {
  const parameters = routes.flatMap(({ id, query = {} }) =>
    Object.entries(query === 'unchecked' ? {} : query).map(([name, parameter]) => ({ of: `${id}: ${name}`, ...parameter })),
  )
  t.ok(parameters.length > 5)
  assertEvery(t, parameters, ({ example, parse }) => parse(String(example)) !== undefined)
})

t.test('the gateway serves the document to anybody, and its tag', async (t) => {
  const { app } = aGateway()
  const response = await app.inject({ url: `${API_PREFIX}/openapi.json` })
  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), JSON.parse(JSON.stringify(buildDocument())))
  const again = await app.inject({ url: '/v1/openapi.json', headers: { 'if-none-match': response.headers.etag as string } })
  t.equal(again.statusCode, 304)
})

t.test('a kilobyte of requests for the document stops a gateway for seconds: all responses share its bytes', async (t) => {
  const { app } = aGateway()
  const sent: unknown[] = []
  app.addHook('onSend', async (_request, _reply, payload) => void sent.push(payload))
  for (let n = 0; n < 2; n++) await app.inject({ url: '/v1/openapi.json' })
  t.ok(Buffer.isBuffer(sent[0]))
  t.equal(sent[0], sent[1])
})

// The fake gateway compares all responses of all unit tests with the document: see compareWithDocument in ../fakes.ts.
t.test('findUndocumented tells a status, a code and a field that the document does not have', async (t) => {
  const seen = { method: 'GET', path: '/v1/usage/current' }
  t.match(findUndocumented({ ...seen, status: 418, body: {} }), 'no such status')
  t.match(findUndocumented({ ...seen, status: 401, body: { success: false, error: { code: 'NOT_FOUND', message: '' } } }), 'no NOT_FOUND')
  const error = { code: 'UNAUTHORIZED', message: '', hint: '' }
  t.match(findUndocumented({ ...seen, status: 401, body: { success: false, error } }), '.error.hint is not documented')
  t.match(findUndocumented({ ...seen, status: 401, body: { error } }), 'Invalid input')
})

t.test('findOperation takes a path that is spelled out before one with an id, and HEAD as GET', async (t) => {
  t.equal(findOperation('POST', '/v1/screenshots/batch')?.id, 'createBatch')
  t.equal(findOperation('HEAD', '/api/v1/screenshots/scr_1')?.id, 'getScreenshot')
  t.equal(findOperation('GET', '/healthz'), undefined)
})
