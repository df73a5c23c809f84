import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { API_PREFIX, buildDocument, pathOf } from '../../../../api-gateway/src/openapi/document.ts'
import { errorsOf } from '../../../../api-gateway/src/openapi/errors-of.ts'
import { EVENTS, Event, exampleOf } from '../../../../api-gateway/src/openapi/events.ts'
import { operations } from '../../../../api-gateway/src/openapi/operations/all.ts'
import type { Operation } from '../../../../api-gateway/src/openapi/operations/operation.ts'
import { deliveryParameters, listParameters } from '../../../../api-gateway/src/openapi/operations/parameters.ts'
import { LIST_PARAMETERS, parseListQuery } from '../../../../api-gateway/src/translate/screenshots/list-query.ts'
import { DELIVERY_PARAMETERS, parseDeliveryQuery } from '../../../../api-gateway/src/translate/webhooks/delivery-query.ts'
import { aGateway } from '../fakes.ts'

interface Route {
  method: string
  url: string
  scope: string | undefined
}

/** `/screenshots/:id` → `/screenshots/{id}`, and the one wildcard as the document spells it out. */
const toDocumented = (url: string): string => url.replaceAll(/:(\w+)/g, '{$1}').replace('/files/*', '/files/users/{account}/{file}')

/** Pages for people, which no program calls. */
const isPage = (url: string): boolean => url.startsWith('/docs')

/** What fastify serves, as the document should have it: HEAD goes with GET, and `/v1` is the same as `/api/v1`. */
async function findRoutes(): Promise<Route[]> {
  const found: Route[] = []
  const { app } = aGateway()
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const name of [method].flat()) found.push({ method: name.toLowerCase(), url, scope: config?.scope })
  })
  await app.ready()
  return found
    .filter(({ method, url }) => !['head', 'options'].includes(method) && !url.startsWith('/v1/') && !isPage(url))
    .map(({ url, ...rest }) => ({ ...rest, url: toDocumented(url) }))
}

const nameOf = ({ method, url, scope = 'public' }: Route): string => `${method} ${url} ${scope}`
const toRoute = (operation: Operation): Route => ({ method: operation.method, url: pathOf(operation), scope: operation.scope })

t.test('the document has every route, with its scope, and no other', async (t) => {
  const routes = (await findRoutes()).map(nameOf).sort()
  t.strictSame(operations.map(toRoute).map(nameOf).sort(), routes)
})

t.test('the document is valid OpenAPI 3.1', async (t) => {
  const { valid, errors } = await new Validator().validate(structuredClone(buildDocument()))
  t.ok(valid, JSON.stringify(errors, null, 2))
})

t.test('the document leads every reference to something', async (t) => {
  const document = buildDocument()
  const text = JSON.stringify(document)
  const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path))
  t.ok(references.size > 20)
  for (const reference of references) {
    // biome-ignore lint/suspicious/noExplicitAny: a path through a document of any shape
    const target = reference.split('/').reduce<any>((place, step) => place?.[step], document)
    t.ok(target, reference)
  }
  const names = Object.keys(document.components.schemas)
  t.strictSame(
    names.filter((name) => !references.has(`components/schemas/${name}`)),
    [],
    'no schema is left over',
  )
})

t.test('the document tells operations apart by their ids', async (t) => {
  const ids = operations.map(({ id }) => id)
  t.equal(new Set(ids).size, ids.length)
})

t.test('the document has links lead to operations and to parameters that they have', async (t) => {
  for (const { id, responses } of operations) {
    for (const link of Object.values(responses).flatMap(({ links = {} }) => Object.values(links))) {
      const target = operations.find((operation) => operation.id === link.operationId)
      t.ok(target, `${id} leads to ${link.operationId}`)
      const names = target?.parameters?.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      t.strictSame(Object.keys(link.parameters), names, `${id} → ${link.operationId}`)
    }
  }
})

t.test('the document gives examples that its schemas accept, and that say nothing else', async (t) => {
  for (const { id, body, responses, parameters = [] } of operations) {
    for (const [name, { value }] of Object.entries(body?.examples ?? {})) t.strictSame(body?.schema.parse(value), value, `${id}: ${name}`)
    for (const [status, { schema, example }] of Object.entries(responses)) {
      if (schema && example !== undefined) t.strictSame(schema.parse(example), example, `${id}: ${status}`)
    }
    for (const { name, schema, example } of parameters) {
      if (example !== undefined) t.strictSame(schema.parse(example), example, `${id}: ${name}`)
    }
  }
  for (const { type, screenshot } of EVENTS) t.strictSame(Event.parse(exampleOf(type, screenshot)), exampleOf(type, screenshot), type)
})

t.test('the document shows a body and an answer of every operation that has them', async (t) => {
  for (const { id, method, body, responses } of operations) {
    if (body) t.ok(Object.keys(body.examples).length > 0, `${id} has an example of its body`)
    for (const [status, { schema, example }] of Object.entries(responses)) {
      if (schema && id !== 'getOpenApiDocument') t.ok(example, `${id} has an example of ${status}`)
    }
    t.ok(Object.keys(responses).length > 0)
    if (['post', 'put', 'patch'].includes(method)) t.ok(body || method === 'post', `${id} tells its body`)
  }
})

t.test('the document tells each refusal with its codes', async (t) => {
  const { paths, components } = buildDocument()
  for (const operation of operations) {
    // biome-ignore lint/suspicious/noExplicitAny: a path through a document
    const { responses } = (paths as any)[pathOf(operation)][operation.method]
    for (const [status, codes] of errorsOf(operation)) {
      const { $ref } = responses[status]
      const { content } = components.responses[$ref.split('/').at(-1)]!
      t.strictSame(Object.keys(content['application/json'].examples), codes, `${operation.id}: ${status}`)
    }
  }
})

t.test('the document names the parameters that lists understand', async (t) => {
  t.strictSame(listParameters.map(({ name }) => name).sort(), [...LIST_PARAMETERS].sort())
  for (const { name, example } of listParameters) t.doesNotThrow(() => parseListQuery({ [name]: String(example) }), name)
  t.strictSame(deliveryParameters.map(({ name }) => name).sort(), [...DELIVERY_PARAMETERS].sort())
  for (const { name, example } of deliveryParameters) t.doesNotThrow(() => parseDeliveryQuery({ [name]: String(example) }), name)
})

t.test('the gateway serves the document to anybody, and its tag', async (t) => {
  const { app } = aGateway()
  const response = await app.inject({ url: `${API_PREFIX}/openapi.json` })
  t.equal(response.statusCode, 200)
  t.strictSame(response.json(), JSON.parse(JSON.stringify(buildDocument())))
  const again = await app.inject({ url: '/v1/openapi.json', headers: { 'if-none-match': response.headers.etag as string } })
  t.equal(again.statusCode, 304)
})
