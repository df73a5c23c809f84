import t from 'tap'
import { LINK_OPTIONS, NOT_IN_LINKS } from '../../../../api-gateway/client/src/generated/links.ts'
import { signLink, TintypeError } from '../../../../api-gateway/client/src/index.ts'
import { linkSignature } from '../../../../api-gateway/client/src/link/sign.ts'
import { parseLinkQuery } from '../../../../api-gateway/src/resources/take/link-query.ts'
import { exampleOf, optionsByName } from '../../../../crds/src/options/groups.ts'
import { toSnakeCase } from '../../../../crds/src/text/words.ts'

const includes = (names: readonly string[], name: string): boolean => names.includes(name)

const secret = 'lsk_secret'
const base = { baseUrl: 'https://tintype.example.com', key: 'key_1', secret, params: { url: 'https://example.com/?a=b c' } } as const

t.test('signLink builds a URL whose signature covers all its parameters', async (t) => {
  const link = new URL(await signLink({ ...base, expires: 1_767_225_600 }))
  t.equal(link.origin + link.pathname, 'https://tintype.example.com/v1/take')
  t.strictSame([...link.searchParams].slice(0, -1), [
    ['key', 'key_1'],
    ['url', 'https://example.com/?a=b c'],
    ['expires', '1767225600'],
  ])
  t.match(link.searchParams.get('signature'), /^[0-9a-f]{64}$/)
  t.equal(await linkSignature(link.search.slice(1), secret), link.searchParams.get('signature'))
})

t.test('signLink writes booleans as words and repeats the name of a list, in its order', async (t) => {
  const params = {
    ...base.params,
    full_page: true,
    wait_until: ['networkidle', 'load'] as ('networkidle' | 'load')[],
    delay: 0,
    styles: '',
  }
  const { searchParams } = new URL(await signLink({ ...base, params }))
  t.equal(searchParams.get('full_page'), 'true')
  t.strictSame(searchParams.getAll('wait_until'), ['networkidle', 'load'])
  t.equal(searchParams.get('delay'), '0')
  t.equal(searchParams.get('styles'), '')
})

t.test('signLink leaves out options without a value', async (t) => {
  const params: object = { ...base.params, delay: undefined }
  t.equal(await signLink({ ...base, params: params as typeof base.params }), await signLink(base))
})

t.test('signLink takes a date and cuts it to seconds', async (t) => {
  const expires = new Date('2026-01-01T00:00:00.900Z')
  t.equal(new URL(await signLink({ ...base, expires })).searchParams.get('expires'), '1767225600')
})

t.test('signLink encodes spaces as %20, which no mail program changes', async (t) => {
  t.match(await signLink(base), 'url=https%3A%2F%2Fexample.com%2F%3Fa%3Db%20c&')
})

t.test('signLink keeps the path of the base URL', async (t) => {
  t.match(await signLink({ ...base, baseUrl: 'https://example.com/shots/' }), 'https://example.com/shots/v1/take?')
  t.match(await signLink({ ...base, baseUrl: 'https://example.com/api/v1' }), 'https://example.com/api/v1/take?')
})

t.test('signLink refuses parameters that it sets itself, and empty secrets', async (t) => {
  for (const name of ['key', 'expires', 'signature']) {
    const params = { ...base.params, [name]: 'x' }
    await t.rejects(
      signLink({ ...base, params }),
      new TintypeError(`params must not contain ${name}. Set it beside params.`, { code: 'INVALID_CONFIGURATION' }),
    )
  }
  await t.rejects(signLink({ ...base, secret: '' }), { code: 'INVALID_CONFIGURATION' })
  await t.rejects(signLink({ ...base, baseUrl: 'tintype.example.com' }), { code: 'INVALID_CONFIGURATION' })
})

t.test('signLink writes an object as JSON, and every option so that the gateway reads its value', async (t) => {
  const { searchParams } = new URL(await signLink({ ...base, params: { ...base.params, media_features: { 'color-gamut': 'p3' } } }))
  t.equal(searchParams.get('media_features'), '{"color-gamut":"p3"}')
  for (const [option, { facts }] of optionsByName) {
    const name = toSnakeCase(option)
    if (!includes(LINK_OPTIONS, name) || typeof facts.links === 'object') continue
    const value = exampleOf(option)
    const { search } = new URL(await signLink({ ...base, params: { ...base.params, [name]: value } }))
    t.strictSame(parseLinkQuery(search.slice(1)).options[name], value, name)
  }
})

t.test('signLink refuses what the service would refuse', async (t) => {
  const refused = async (params: object, code: string) =>
    t.rejects(signLink({ ...base, params: params as typeof base.params }), { code }, JSON.stringify(params).slice(0, 80))
  for (const name of NOT_IN_LINKS) await refused({ ...base.params, [name]: 'x' }, 'OPTION_NOT_ALLOWED')
  await refused({ ...base.params, cache: false }, 'OPTION_NOT_ALLOWED')
  await refused({ url: 'https://user:secret@example.com' }, 'OPTION_NOT_ALLOWED')
  await refused({ ...base.params, viewportWidth: 100 }, 'INVALID_CONFIGURATION')
  await refused({ ...base.params, on_error: 'text' }, 'INVALID_CONFIGURATION')
  await refused({ full_page: true }, 'INVALID_CONFIGURATION')
  await refused({ url: `https://example.com/${'a'.repeat(8_000)}` }, 'INVALID_CONFIGURATION')
  t.match(await signLink({ ...base, params: { html: '<p>Hi' } }), 'html=%3Cp%3EHi&')
})

t.test('the types of signLink accept only options that a link can contain', async (t) => {
  // @ts-expect-error a link has no headers
  await t.rejects(signLink({ ...base, params: { ...base.params, headers: { a: 'b' } } }))
  // @ts-expect-error no option has this name
  await t.rejects(signLink({ ...base, params: { ...base.params, full_pages: true } }))
  const video = await signLink({ ...base, params: { url: base.params.url, format: 'webm', video_duration: 8 } })
  t.match(video, /format=webm&/)
  // @ts-expect-error a picture has no duration
  t.ok(await signLink({ ...base, params: { ...base.params, format: 'png', video_duration: 8 } }))
})
