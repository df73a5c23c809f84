import { text } from 'node:stream/consumers'
import t from 'tap'
import { type SealedFor, unseal } from '../../../crds/src/crypto/sealed.ts'
import { toObjectName } from '../../../crds/src/identifiers/names.ts'
import { SealedOptions } from '../../../crds/src/options/sealed-options.ts'
import { call } from './client.ts'
import { complete, fail } from './runner-role.ts'
import { startWorld } from './world.ts'

// Secrets of clients, sent to a real gateway process: they must not be readable in anything that the gateway writes, and only the
// operator's key may decrypt them.

const world = await startWorld()
t.teardown(() => world.stop())
await world.createAccount('acme')
const key = await world.createKey({ accountName: 'acme' })
const gateway = await world.startGateway({ TINTYPE_LOG_LEVEL: 'trace' })
const api = `${gateway.url}/v1`
const url = 'https://example.com/'
/** Must not appear anywhere in any encoding: plain, base64 or percent-encoded. */
const SECRET = 'Zq7planted7Secret'
/** Appears wherever options are shown: the control of the search. */
const VISIBLE = '#Zq7visible'
const spellings = [
  SECRET,
  Buffer.from(SECRET).toString('base64').slice(1, -3),
  encodeURIComponent(SECRET),
  Buffer.from(`u:${SECRET}`).toString('base64'),
]

const secrets = {
  authorization: `Bearer ${SECRET}`,
  headers: { 'X-Api-Key': SECRET },
  cookies: [{ name: 'sid', value: SECRET, http_only: true }, `text=${SECRET}; Path=/x; Secure`],
}
const read = {
  authorization: `Bearer ${SECRET}`,
  headers: { 'X-Api-Key': SECRET },
  cookies: [
    { name: 'sid', value: SECRET, httpOnly: true },
    { name: 'text', value: SECRET, path: '/x', secure: true },
  ],
}

const create = (body: object, path = '/screenshots', headers: Record<string, string> = {}) =>
  call(`${api}${path}`, { method: 'POST', key, body, headers })
const specOf = async (id: string) => (await world.screenshots.get(toObjectName(id))).spec
const open = async (sealed: string | undefined, sealedFor: Partial<SealedFor>) =>
  SealedOptions.parse(
    JSON.parse(await unseal(sealed ?? '', { purpose: 'options', subject: '', account: 'acme', ...sealedFor }, world.openingKeys)),
  )

/** All objects in the bucket, by key. */
async function bucketTexts(): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for await (const { name } of world.bucket.listObjectsV2('tintype', '', true))
    if (name !== undefined) texts.set(name, await text(await world.bucket.getObject('tintype', name)))
  return texts
}

t.test('POST /screenshots seals private options; the record says only that they were given', async (t) => {
  const { status, body } = await create({ url, options: { delay: 7, click: VISIBLE, ...secrets } })
  t.equal(status, 202)
  t.match(body.options, { delay: 7, authorization: '***', headers: '***', cookies: '***' })
  const spec = await specOf(body.id)
  t.strictSame(spec.options, { delay: 7, click: VISIBLE })
  t.strictSame((await open(spec.sealedOptions, { subject: toObjectName(body.id), url })).privateOptions, read)
})

t.test('POST /screenshots moves credentials out of the url', async (t) => {
  const { status, body } = await create({ url: `https://u:${SECRET}@example.com/?q` })
  t.match(
    { status, body },
    { status: 202, body: { url: 'https://example.com/?q', options: { basic_auth_username: '***', basic_auth_password: '***' } } },
  )
  const spec = await specOf(body.id)
  t.equal(spec.url, 'https://example.com/?q')
  const { privateOptions } = await open(spec.sealedOptions, { subject: toObjectName(body.id), url: spec.url })
  t.strictSame(privateOptions, { basicAuthUsername: 'u', basicAuthPassword: SECRET })
})

t.test('POST /screenshots/batch seals for each item separately, and shares large values', async (t) => {
  const styles = `/* ${SECRET} */${' '.repeat(9000)}`
  const urls = [url, `https://u:${SECRET}@example.org/`]
  const { status, body } = await create({ urls, options: { styles, headers: { a: SECRET } } }, '/screenshots/batch')
  t.equal(status, 202)
  const specs = await Promise.all(body.screenshots.map(({ id }: { id: string }) => specOf(id)))
  t.equal(new Set(specs.map(({ optionsObject }) => optionsObject)).size, 1)
  const { batchId = '', optionsObject = '' } = specs[0]
  t.equal(optionsObject, `options/acme/${batchId}.jwe`)
  const large = (await bucketTexts()).get(optionsObject)
  t.strictSame(await open(large, { purpose: 'large-options', subject: batchId }), { options: { styles } })
  const subjects = body.screenshots.map(({ id }: { id: string }) => toObjectName(id))
  t.strictSame((await open(specs[0].sealedOptions, { subject: subjects[0], url })).privateOptions, { headers: { a: SECRET } })
  t.strictSame((await open(specs[1].sealedOptions, { subject: subjects[1], url: 'https://example.org/' })).privateOptions, {
    headers: { a: SECRET },
    basicAuthUsername: 'u',
    basicAuthPassword: SECRET,
  })
  await t.rejects(open(specs[0].sealedOptions, { subject: subjects[1], url }), 'no item can decrypt the options of another')
})

t.test('POST /screenshots supports Idempotency-Keys for requests with secrets', async (t) => {
  const headers = { 'idempotency-key': 'with-secrets' }
  const body = { url, options: { ...secrets, scripts: `/* ${SECRET} */${'x'.repeat(9000)}` } }
  const [first, second] = [await create(body, '/screenshots', headers), await create(body, '/screenshots', headers)]
  t.match([first.status, second.status, second.body.id], [202, 202, first.body.id])
  t.strictSame(second.body.options, first.body.options)
  t.match(first.body.options, { scripts: '…', cookies: '***' })
})

t.test('POST /screenshots reports errors in private options without quoting them', async (t) => {
  const cases: [object, string[]][] = [
    [{ authorization: `${SECRET}\n` }, ['options.authorization invalid_format']],
    [{ headers: { Host: SECRET } }, ['options.headers invalid_value']],
    [{ cookies: [SECRET] }, ['options.cookies[0] invalid_value']],
    [{ basic_auth_password: SECRET }, ['options.basic_auth_password contradiction']],
    [{ authorization: SECRET, basic_auth_username: 'u', basic_auth_password: SECRET }, ['options.authorization contradiction']],
    [{ cookie: SECRET }, ['options.cookie unknown_field']],
  ]
  for (const [options, expected] of cases) {
    const { status, body } = await create({ url, options })
    t.equal(status, 400, JSON.stringify(expected))
    t.strictSame(
      body.error.details.map(({ path, code }: Record<string, string>) => `${path} ${code}`),
      expected,
    )
    t.notMatch(JSON.stringify(body), SECRET)
  }
  const { body } = await create({ url: `https://u:${SECRET}@127.0.0.1/` })
  t.equal(body.error.code, 'URL_NOT_ALLOWED')
  t.notMatch(JSON.stringify(body), SECRET)
})

// This test comes last, because by then the gateway has written everything.
t.test('the gateway writes no secret into objects, bucket, records, log or metrics', async (t) => {
  const objects = await world.screenshots.listAll()
  t.ok(objects.length >= 5)
  const { name } = objects[0]!.metadata
  await complete(name, Buffer.from('a picture'), world)
  await fail(objects[1]!.metadata.name, { code: 'TIMEOUT', message: 'too slow' }, world)
  const list = await call(`${api}/screenshots?limit=100`, { key })
  t.equal(list.body.data.length, objects.length)
  const single = await call(`${api}/screenshots/${name.replace('-', '_')}`, { key })
  t.equal(single.status, 200)
  const texts = await bucketTexts()
  t.ok(
    [...texts.keys()].some((place) => place.startsWith('options/')) && [...texts.keys()].some((place) => place.startsWith('idempotency/')),
  )
  const places = {
    objects: JSON.stringify(await world.screenshots.listAll()),
    usage: JSON.stringify(await world.usages.listAll()),
    bucket: [...texts].flat().join('\n'),
    list: JSON.stringify(list.body),
    record: JSON.stringify(single.body),
    log: gateway.log(),
    metrics: await (await fetch(`${gateway.metricsUrl}/metrics`)).text(),
  }
  for (const place of ['objects', 'list'] as const) t.ok(places[place].includes(VISIBLE), `control: ${place} shows what is no secret`)
  for (const [place, content] of Object.entries(places)) {
    t.ok(content.length > 0, `${place} is read`)
    for (const spelling of spellings) t.notOk(content.includes(spelling), `${place} holds no ${spelling}`)
  }
})
