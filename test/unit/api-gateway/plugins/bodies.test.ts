import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { z } from 'zod'
import { MAX_DEPTH, MAX_VALUES } from '../../../../api-gateway/src/bodies/receive.ts'
import { buildDocument } from '../../../../api-gateway/src/openapi/document.ts'
import { routes } from '../../../../api-gateway/src/resources/all.ts'
import { unseal } from '../../../../crds/src/crypto/sealed.ts'
import { aGateway, OPENING_KEY } from '../fakes.ts'

const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

interface Schema {
  $ref?: string
  type?: string
  items?: Schema
  maxItems?: number
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  maxProperties?: number
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
interface Document {
  paths: Record<string, Record<string, { requestBody?: { content: { 'application/json': { schema: Schema } } } }>>
  components: { schemas: Record<string, Schema> }
}

const JSON_TYPE = 'application/json'
const gateway = aGateway()
/** Sends bytes. Returns the response. */
const post = async (url: string, payload: string | Buffer, more: Record<string, string> = {}) => {
  const headers = { ...gateway.headers, 'content-type': JSON_TYPE, ...more }
  const { statusCode, body } = await gateway.app.inject({ method: 'POST', url, payload, headers })
  return { statusCode, ...JSON.parse(body) }
}

const page = '"url":"https://example.com/"'
const bodies: [path: string, url: string, body: string][] = [
  ['options.headers.__proto__', '/v1/screenshots', `{${page},"options":{"headers":{"__proto__":"x"}}}`],
  ['options.headers.__proto__', '/v1/screenshots', `{${page},"options":{"headers":{"\\u005f_proto__":"x"}}}`],
  ['options.local_storage.constructor', '/v1/screenshots', `{${page},"options":{"local_storage":{"constructor":"x"}}}`],
  ['options.media_features.prototype', '/v1/screenshots', `{${page},"options":{"media_features":{"prototype":"x"}}}`],
  ['options.cookies[0].__proto__', '/v1/screenshots', `{${page},"options":{"cookies":[{"name":"a","value":"b","__proto__":{}}]}}`],
  ['__proto__', '/v1/screenshots', `{${page},"__proto__":{"url":"https://evil.example/"}}`],
  ['options.headers.__proto__', '/v1/screenshots/batch', '{"urls":["https://example.com/"],"options":{"headers":{"__proto__":"x"}}}'],
  ['__proto__', '/v1/webhooks', '{"url":"https://example.com/","events":["screenshot.completed"],"__proto__":{}}'],
  ['constructor', '/v1/keys', '{"name":"a","constructor":{}}'],
]
for (const [path, url, body] of bodies) {
  t.test(`${path} is ignored: POST ${url} refuses ${body}`, async (t) => {
    const details = [{ path, code: 'reserved_name', message: `${path} is a reserved name: leave the field out` }]
    t.match(await post(url, body), { statusCode: 400, error: { code: 'VALIDATION_ERROR', details } })
  })
}

t.test('A value may say anything', async (t) => {
  t.equal((await post('/v1/screenshots', `{${page},"options":{"scripts":"a.__proto__ = a.constructor.prototype"}}`)).statusCode, 202)
})

t.test('a deep body ends the gateway: 33 levels are refused, with the limit', async (t) => {
  for (const body of [`{"options":${'['.repeat(4_000_000)}`, `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`]) {
    const response = await post('/v1/screenshots', body)
    t.match(response, { statusCode: 400, error: { message: /more than 32 levels/, details: [{ path: '', code: 'too_big' }] } })
  }
})

t.test('a body of many values ends the gateway: 20,001 values are refused, with the limit', async (t) => {
  for (const body of [
    `["\\u0041",${'{},'.repeat(1_300_000)}{}]`,
    `[${'{"__proto__":1},'.repeat(250_000)}{}]`,
    `[${'1,'.repeat(2_000_000)}1]`,
  ]) {
    const response = await post('/v1/screenshots', body)
    t.match(response, { statusCode: 400, error: { message: /more than 20,000 values/, details: [{ path: '', code: 'too_big' }] } })
  }
})

t.test('20,000 unknown names block the gateway for a minute: 50 of them get suggestions, and the others are counted', async (t) => {
  const names = Array.from({ length: 19_000 }, (_, n) => `"fullpage${n}":1`)
  const response = await post('/v1/screenshots', `{${page},"options":{${names.join(',')}}}`)
  t.equal(response.statusCode, 400)
  t.equal(response.error.details.length, 51)
  t.match(response.error.details[0], { path: 'options.fullpage0', message: /did you mean full_page\?/ })
  t.match(response.error.details[50], { path: 'options', code: 'unknown_field', message: '18950 more names in options are not known' })
})

/** The most values and levels that a schema of JSON Schema accepts. */
function largest(schema: Schema, schemas: Record<string, Schema>): { values: number; depth: number } {
  if (schema.$ref) return largest(schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, schemas)
  const most = (all: { values: number; depth: number }[]) => ({
    values: Math.max(0, ...all.map(({ values }) => values)),
    depth: Math.max(0, ...all.map(({ depth }) => depth)),
  })
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  if (choices.length > 0) return most(choices.map((choice) => largest(choice, schemas)))
  if (schema.type === 'array') {
    const item = largest(schema.items ?? {}, schemas)
    return { values: 1 + (schema.maxItems ?? Number.POSITIVE_INFINITY) * item.values, depth: 1 + item.depth }
  }
  if (schema.type !== 'object') return { values: 1, depth: 0 }
  const fields = Object.values(schema.properties ?? {}).map((field) => largest(field, schemas))
  const more = typeof schema.additionalProperties === 'object' ? largest(schema.additionalProperties, schemas) : { values: 0, depth: 0 }
  const ofMap = more.values === 0 ? 0 : (schema.maxProperties ?? Number.POSITIVE_INFINITY) * more.values
  return { values: 1 + ofMap + fields.reduce((sum, { values }) => sum + values, 0), depth: 1 + most([...fields, more]).depth }
}

t.test('the largest bodies that the OpenAPI document allows have fewer values and levels than the limits', async (t) => {
  const { paths, components } = buildDocument() as unknown as Document
  const bodies = Object.values(paths).flatMap((path) => Object.values(path).flatMap(({ requestBody }) => requestBody ?? []))
  t.ok(bodies.length > 10)
  for (const { content } of bodies) {
    const { values, depth } = largest(content['application/json'].schema, components.schemas)
    t.ok(values <= MAX_VALUES, `${values} values`)
    t.ok(depth <= MAX_DEPTH, `${depth} levels`)
  }
})

/** Sends bytes. Returns the response, and the HTML that the gateway has stored. */
async function postBytes(payload: Buffer, headers: Record<string, string> = {}) {
  const response = await post('/v1/screenshots', payload, headers)
  const { spec, metadata } = gateway.screenshots.objects.get(response.id) ?? {}
  const sent = { ...response, html: spec?.options?.html, bytesInUse: gateway.bodyBudget.bytes }
  if (spec?.optionsObject === undefined) return sent
  const sealedFor = { purpose: 'large-options', subject: metadata?.name ?? '', account: 'acme' } as const
  const sealed = (await gateway.objects.read(spec.optionsObject))?.text ?? ''
  const { options } = JSON.parse(await unseal(sealed, sealedFor, [OPENING_KEY]))
  return { ...sent, html: options.html }
}
/** A JSON text in which every character is an escape, as Python writes all characters outside ASCII. */
const escaped = (html: string): string =>
  `{"options":{"html":"${html.replaceAll(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"}}`
const plain = (html: string): string => JSON.stringify({ options: { html } })
const MAX_HTML = 2_097_152

const scripts: [name: string, html: string, write: (html: string) => string][] = [
  ['Chinese', '中'.repeat(MAX_HTML), plain],
  ['emoji, escaped', '😀'.repeat(MAX_HTML / 2), escaped],
]
for (const [name, html, write] of scripts) {
  t.test(`HTML of the documented size is refused as too large: 2,097,152 characters in ${name} are stored`, async (t) => {
    const response = await postBytes(Buffer.from(write(html)))
    t.equal(response.statusCode, 202)
    t.ok(response.html === html, 'the HTML is unchanged')
  })
}

t.test('one character more of HTML is refused for its length, and a larger body for its size', async (t) => {
  const long = await postBytes(Buffer.from(escaped('a'.repeat(MAX_HTML + 1))))
  t.match(long, { statusCode: 400, error: { details: [{ path: 'options.html', code: 'too_big' }] } })
  const large = await postBytes(Buffer.alloc(14 * 2 ** 20 + 1, ' '))
  t.match(large, { statusCode: 413, error: { code: 'PAYLOAD_TOO_LARGE', message: 'the body is larger than 14 MiB' }, bytesInUse: 0 })
  const [most, more] = [8 * 2 ** 20, 8 * 2 ** 20 + 1].map((bytes) => postBytes(Buffer.alloc(bytes, ' ')))
  t.match(await most, { statusCode: 400, error: { details: [{ code: 'invalid_json' }] } })
  t.match(await more, { statusCode: 413, error: { message: 'the body is larger than 8 MiB, and each \\uXXXX counts as 3 bytes' } })
  const control = await postBytes(Buffer.from(escaped('\u0001'.repeat(MAX_HTML))))
  t.match(control, { statusCode: 400, error: { details: [{ path: 'options', code: 'too_big' }] }, bytesInUse: 0 })
})

t.test('only bodies that can carry a page may be larger than 1 MiB', async (t) => {
  const carriesPage = (schema: z.ZodType): boolean => {
    if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return carriesPage(schema.unwrap() as z.ZodType)
    const shape = schema instanceof z.ZodObject ? schema.shape : {}
    return 'html' in shape || Object.values(shape).some(carriesPage)
  }
  const bodies = routes.flatMap(({ id, body }) => (body ? [{ id, body }] : []))
  for (const { id, body } of bodies) t.equal(body.maxBytes, carriesPage(body.schema) ? 14 * 2 ** 20 : undefined, id)
  t.match(await post('/v1/webhooks', `{"name":"${'x'.repeat(2 ** 20)}"}`), {
    statusCode: 413,
    error: { message: 'the body is larger than 1 MiB' },
  })
})

const html = '<p>Zürich – 中 😀</p>'.repeat(600)
const forms: [name: string, bytes: Buffer, headers: Record<string, string>][] = [
  ['a byte order mark', Buffer.from(`\ufeff${plain(html)}`), {}],
  ['charset="UTF-8"', Buffer.from(plain(html)), { 'content-type': 'application/json;charset="UTF-8"' }],
  ['another case and parameters', Buffer.from(plain(html)), { 'content-type': 'Application/JSON; odata.metadata=none; Charset=utf8' }],
  ['us-ascii', Buffer.from(escaped(html)), { 'content-type': 'application/json; charset=us-ascii' }],
  ['gzip', gzipSync(plain(html)), { 'content-encoding': 'gzip' }],
  ['x-gzip and a byte order mark', gzipSync(`\ufeff${plain(html)}`), { 'content-encoding': 'X-GZip' }],
  ['br', brotliCompressSync(plain(html)), { 'content-encoding': 'br' }],
  ['deflate', deflateSync(plain(html)), { 'content-encoding': 'deflate' }],
  ['identity', Buffer.from(plain(html)), { 'content-encoding': 'identity' }],
]
for (const [name, bytes, headers] of forms) {
  t.test(`a body with ${name} is read as it is meant`, async (t) => {
    const response = await postBytes(bytes, headers)
    t.equal(response.statusCode, 202)
    t.ok(response.html === html, 'the HTML is unchanged')
  })
}

t.test('charset=iso-8859-1 is stored as “�”: it is decoded', async (t) => {
  const german = '<p>Zürich, Größe</p>'.repeat(600)
  for (const charset of ['iso-8859-1', '"ISO-8859-1"', 'windows-1252']) {
    const response = await postBytes(Buffer.from(plain(german), 'latin1'), { 'content-type': `application/json; charset=${charset}` })
    t.ok(response.html === german, charset)
  }
})

const small = Buffer.from('{"url":"https://example.com/"}')
const badBodies: [name: string, status: number, words: RegExp, bytes: Buffer, headers: Record<string, string>][] = [
  ['bytes that are not UTF-8', 400, /not valid UTF-8/, Buffer.from(plain('Zürich'), 'latin1'), {}],
  ['a cut character', 400, /not valid UTF-8/, Buffer.concat([Buffer.from('"'), Buffer.from('中').subarray(0, 2), Buffer.from('"')]), {}],
  ['half of a surrogate pair', 400, /options.html is not well-formed Unicode/, Buffer.from('{"options":{"html":"a\\ud83d"}}'), {}],
  ['half of a surrogate pair in a name', 400, /is not well-formed Unicode/, Buffer.from('{"\\ud83d":1}'), {}],
  ['a body in UTF-16', 415, /send JSON in UTF-8/, Buffer.from(`\ufeff${small}`, 'utf16le'), {}],
  ['a body in UTF-16 without a mark', 415, /send JSON in UTF-8/, Buffer.from(String(small), 'utf16le'), {}],
  [
    'charset=utf-16',
    415,
    /send the body in UTF-8/,
    Buffer.from(String(small), 'utf16le'),
    { 'content-type': 'application/json; charset=utf-16' },
  ],
  ['charset=shift_jis', 415, /send the body in UTF-8/, small, { 'content-type': 'application/json; charset=shift_jis' }],
  ['another Content-Encoding', 415, /gzip, br or deflate/, small, { 'content-encoding': 'zstd' }],
  ['two encodings', 415, /gzip, br or deflate, once/, gzipSync(gzipSync(small)), { 'content-encoding': 'gzip, gzip' }],
  ['what is not gzip', 400, /not valid gzip/, small, { 'content-encoding': 'gzip' }],
  ['half of a gzip', 400, /not valid gzip/, gzipSync(small).subarray(0, 20), { 'content-encoding': 'gzip' }],
  ['a gzip of 20 MB', 413, /larger than 8 MiB/, gzipSync(Buffer.alloc(20_000_000, 0x20)), { 'content-encoding': 'gzip' }],
  ['a br of 20 MB', 413, /larger than 8 MiB/, brotliCompressSync(Buffer.alloc(20_000_000, 0x20), FAST), { 'content-encoding': 'br' }],
  ['compressed levels', 400, /more than 32 levels/, gzipSync('['.repeat(4_000_000)), { 'content-encoding': 'gzip' }],
]
for (const [name, status, words, bytes, headers] of badBodies) {
  t.test(`${name} gets ${status}, with the reason`, async (t) => {
    t.match(await postBytes(bytes, headers), { statusCode: status, error: { message: words }, html: undefined, bytesInUse: 0 })
  })
}

t.test('only PATCH takes a merge patch', async (t) => {
  const { app, headers } = aGateway()
  const send = async (method: 'PATCH' | 'POST' | 'PUT', url: string, type: string, payload: object) =>
    (await app.inject({ method, url, headers: { ...headers, 'content-type': type }, payload: JSON.stringify(payload) })).statusCode
  const url = `/v1/keys/${(await app.inject({ url: '/v1/keys', headers })).json().data[0].id}`
  for (const type of ['application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=utf-8']) {
    t.equal(await send('PATCH', url, type, { name: 'changed' }), 200)
    t.equal(await send('PATCH', url, type, { name: '' }), 400)
    t.equal(await send('PUT', url, type, { name: 'changed' }), 415)
    t.equal(await send('POST', '/v1/keys', type, { name: 'new' }), 415)
  }
  t.equal(await send('PATCH', url, 'application/json-patch+json', [{ op: 'remove', path: '/name' }] as never), 415)
})
