import t from 'tap'
import { z } from 'zod'
import { toProblems } from '../../../../../../api-gateway/src/http/problems.ts'
import {
  findPrivateOptionProblems,
  parseSetCookie,
  privateOptionFields,
  toPrivateOptions,
} from '../../../../../../api-gateway/src/resources/screenshots/options/private-options.ts'
import { evaluateTarget, evaluateUrl } from '../../../../../../api-gateway/src/resources/screenshots/options/target-url.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../../../crds/src/addresses/address-rules.ts'
import { PrivateOptions, privateOptionNames } from '../../../../../../crds/src/options/private.ts'
import { toSnakeCase } from '../../../../../../crds/src/text/words.ts'

const Body = z.strictObject(privateOptionFields)

t.test('privateOptionFields names every private option as the wire does, each optional', async (t) => {
  t.strictSame(Object.keys(privateOptionFields).sort(), privateOptionNames.map(toSnakeCase).sort())
  t.ok(Body.safeParse({}).success)
})

t.test('toPrivateOptions leaves the names of headers and the keys’ case alone', async (t) => {
  const headers = { 'X_My-Header': 'a', 'x-camelCase': 'b' }
  t.strictSame(toPrivateOptions(Body.parse({ headers, basic_auth_username: 'u', basic_auth_password: 'p' })), {
    headers,
    basicAuthUsername: 'u',
    basicAuthPassword: 'p',
  })
})

t.test('toPrivateOptions reads cookies given as objects and as text', async (t) => {
  const cookies = [{ name: 'a', value: 'b', http_only: true, same_site: 'Lax' }, 'c=d; Path=/x; HttpOnly; SameSite=lax']
  const read = toPrivateOptions(Body.parse({ cookies }))
  t.strictSame(read, {
    cookies: [
      { name: 'a', value: 'b', httpOnly: true, sameSite: 'Lax' },
      { name: 'c', value: 'd', path: '/x', httpOnly: true, sameSite: 'Lax' },
    ],
  })
  t.ok(PrivateOptions.safeParse(read).success)
})

t.test('toPrivateOptions takes nothing that is no private option', async (t) => {
  t.strictSame(toPrivateOptions({ delay: 5, url: 'x', headers: undefined }), {})
})

t.test('privateOptionFields refuses a bad cookie by its place, without its text', async (t) => {
  for (const cookie of [
    'no cookie',
    { name: 'a' },
    { name: 'a', value: 'hunter2', httpOnly: true },
    { name: 'n', value: 'hunter2'.repeat(600) },
    5,
  ]) {
    const body = { cookies: ['a=b', cookie] }
    const problems = toProblems(Body.safeParse(body).error?.issues ?? [], {}, { schema: Body, body })
    t.ok(problems.length > 0 && problems.every(({ path }) => path.startsWith('cookies[1]')), JSON.stringify(cookie).slice(0, 40))
    t.notMatch(JSON.stringify(problems), 'Invalid input', 'it says what is wrong')
    t.notMatch(JSON.stringify(problems), 'hunter2')
  }
})

t.test('a cookie that browsers drop is refused with the rule that it breaks, as an object and as text', async (t) => {
  const messageOf = (cookie: unknown) => Body.safeParse({ cookies: [cookie] }).error?.issues[0]?.message ?? ''
  t.match(messageOf({ name: '__Host-a', value: 'b' }), /__Host- or __Secure- needs secure/)
  t.match(messageOf('__Host-a=b; Secure; Domain=example.com'), /leave out domain and path/)
  t.match(messageOf('a=b; SameSite=None'), /SameSite None needs secure/)
  t.match(messageOf('a b=c'), /^name must be the name of a cookie, without spaces/)
  t.match(messageOf('a'), /^must be an object .* or the text of a Set-Cookie header$/)
  t.equal(messageOf('__Host-a=b; Secure; Path=/; SameSite=None'), '')
})

t.test('a cookie as other programs write it was refused without a word about its wrong fields', async (t) => {
  const messagesOf = (cookie: object) => {
    const body = { cookies: [{ name: 'a', value: 'b', secure: true, ...cookie }] }
    const problems = toProblems(Body.safeParse(body).error?.issues ?? [], {}, { schema: Body, body })
    return problems.map(({ path, message }) => [path, message])
  }
  const expires = [['cookies[0].expires', /must be Unix time in whole seconds, such as \d+: convert other forms, and leave it out/]]
  for (const value of ['Wed, 21 Oct 2026 07:28:00 GMT', '2026-10-21', 1761031680.5, -1, 1e15])
    t.match(messagesOf({ expires: value }), expires)
  t.match(messagesOf({ same_site: 'none' }), [['cookies[0].same_site', /"Strict", "Lax", "None"; did you mean "None"\?$/]])
  for (const [wrong, right] of [
    ['httpOnly', 'http_only'],
    ['SameSite', 'same_site'],
    ['expire', 'expires'],
  ] as const)
    t.strictSame(messagesOf({ [wrong]: true }), [[`cookies[0].${wrong}`, `${wrong} is not known here; did you mean ${right}?`]])
})

t.test('privateOptionFields refuses a header without its value', async (t) => {
  const body = { headers: { a: 'hunter2\n' } }
  const problems = toProblems(Body.safeParse(body).error?.issues ?? [], {}, { schema: Body, body })
  t.match(problems, [{ path: 'headers.a' }])
  t.notMatch(JSON.stringify(problems), 'hunter2')
})

t.test('findPrivateOptionProblems points at the option on the wire', async (t) => {
  t.strictSame(findPrivateOptionProblems({ headers: { a: 'b' } }), [])
  t.match(findPrivateOptionProblems({ basicAuthUsername: 'u' }), [{ path: 'options.basic_auth_password', code: 'contradiction' }])
})

const read = [
  ['a=b', { name: 'a', value: 'b' }],
  [' a = b ', { name: 'a', value: 'b' }],
  ['a=', { name: 'a', value: '' }],
  ['a=b=c==', { name: 'a', value: 'b=c==' }],
  ['a="b c"', { name: 'a', value: '"b c"' }],
  ['a=b; Domain=.example.com; Path=/x', { name: 'a', value: 'b', domain: '.example.com', path: '/x' }],
  ['a=b; Domain=example.com', { name: 'a', value: 'b', domain: '.example.com' }],
  ['a=b; Domain=localhost', { name: 'a', value: 'b', domain: 'localhost' }],
  ['a=b; Domain=127.0.0.1', { name: 'a', value: 'b', domain: '127.0.0.1' }],
  ['a=b; SECURE; httponly; SameSite=strict', { name: 'a', value: 'b', secure: true, httpOnly: true, sameSite: 'Strict' }],
  ['a=b; Expires=Thu, 01 Jan 2026 00:00:10 GMT', { name: 'a', value: 'b', expires: 1_767_225_610 }],
  ['a=b; Expires=soon; SameSite=any; Path=x; Domain=; Max-Age=0; Unknown=1;', { name: 'a', value: 'b' }],
] as const
for (const [text, cookie] of read) t.test(`parseSetCookie reads ${text}`, async (t) => t.strictSame(parseSetCookie(text), cookie))

for (const text of ['', 'a', '=b', 'a b=c', 'a=b\nc', `a=${'x'.repeat(4096)}`, 'a=b; Domain=ex ample'])
  t.test(`parseSetCookie takes ${JSON.stringify(text.slice(0, 20))} for no cookie`, async (t) => t.equal(parseSetCookie(text), undefined))

const rules = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }

const accepted = [
  ['https://example.com', 'https://example.com'],
  ['HTTPS://Example.com/A', 'https://Example.com/A'],
  ['http://example.com:8080/a b?c#d', 'http://example.com:8080/a b?c#d'],
  ['https://example.com/@name', 'https://example.com/@name'],
  ['http://page.sites.svc.cluster.local/', 'http://page.sites.svc.cluster.local/'],
  ['https://münchen.example/', 'https://münchen.example/'],
  ['http://93.184.216.34/', 'http://93.184.216.34/'],
  [`https://example.com/${'a'.repeat(8172)}`, `https://example.com/${'a'.repeat(8172)}`],
] as const
for (const [text, url] of accepted)
  t.test(`evaluateTarget accepts ${text.slice(0, 60)}`, async (t) => t.strictSame(evaluateTarget(text, rules), { url }))

const refused = [
  ['', 'invalid_url'],
  ['example.com', 'invalid_url'],
  ['https://example.com/\nHost: x', 'invalid_url'],
  ['https://example.com:99999/', 'invalid_url'],
  ['https:example.com', 'host_required'],
  ['https:///path', 'host_required'],
  ['about:blank', 'unsupported_scheme'],
  ['data:text/html,x', 'unsupported_scheme'],
  ['https://user@example.com/', 'credentials_in_url'],
  ['https://user:pass@example.com/', 'credentials_in_url'],
  [`https://example.com/${'a'.repeat(8173)}`, 'too_big'],
  ['http://127.0.0.1/', 'url_not_allowed'],
  ['http://a.LOCALHOST/', 'url_not_allowed'],
  ['https://example.com:22/', 'url_not_allowed'],
] as const
for (const [text, code] of refused) {
  t.test(`evaluateTarget refuses ${JSON.stringify(text.slice(0, 40))} as ${code}`, async (t) => {
    t.match(evaluateTarget(text, rules), { problem: { code, message: /./ } })
  })
}

t.test('evaluateTarget opens what the rules open', async (t) => {
  const open = { ...rules, allowedCidrs: ['10.1.0.0/16'], allowedPorts: [81] }
  t.strictSame(evaluateTarget('http://10.1.2.3:81/', open), { url: 'http://10.1.2.3:81/' })
  t.match(evaluateTarget('http://10.2.2.3/', open), { problem: { code: 'url_not_allowed' } })
})

t.test('evaluateTarget refuses internal names where names are listed', async (t) => {
  const listed = { ...rules, allowedHosts: ['*.sites.svc.cluster.local'] }
  t.strictSame(evaluateTarget('http://a.sites.svc.cluster.local/', listed), { url: 'http://a.sites.svc.cluster.local/' })
  t.match(evaluateTarget('http://kubernetes.default.svc/', listed), { problem: { code: 'url_not_allowed' } })
})

const cases = [
  ['https://example.com/', { url: 'https://example.com/' }],
  ['https://example.com/@me?a=b@c', { url: 'https://example.com/@me?a=b@c' }],
  ['https://@example.com/', { url: 'https://example.com/' }],
  ['https://:@example.com/', { url: 'https://example.com/' }],
  ['https://u@example.com/', { url: 'https://example.com/', credentials: { basicAuthUsername: 'u', basicAuthPassword: '' } }],
  ['HTTPS://u:p:q@example.com', { url: 'https://example.com', credentials: { basicAuthUsername: 'u', basicAuthPassword: 'p:q' } }],
  [
    'https://u%40x:p%2Fq@example.com/',
    { url: 'https://example.com/', credentials: { basicAuthUsername: 'u@x', basicAuthPassword: 'p/q' } },
  ],
  ['https://u:100%@example.com/', { url: 'https://example.com/', credentials: { basicAuthUsername: 'u', basicAuthPassword: '100%' } }],
  ['https://u:a@b@example.com/', { url: 'https://example.com/', credentials: { basicAuthUsername: 'u', basicAuthPassword: 'a@b' } }],
] as const
for (const [text, split] of cases)
  t.test(`evaluateUrl takes ${text} apart`, async (t) => t.strictSame(evaluateUrl(text, 'url', rules), split))

t.test('evaluateUrl takes no at sign after the path for the end of credentials', async (t) => {
  t.match(evaluateUrl('https://example.com\\@evil.example/', 'url', rules), { url: '', problem: { code: 'invalid_url' } })
})

t.test('evaluateUrl agrees with the browser’s URL about who is asked', async (t) => {
  for (const [text] of cases) {
    const { url, credentials } = evaluateUrl(text, 'url', rules)
    t.strictSame([new URL(url).host, credentials !== undefined], [new URL(text).host, new URL(text).username !== ''], text)
  }
})

t.test('evaluateUrl bounds what may be sealed, and does not repeat it', async (t) => {
  t.match(evaluateUrl('https://a%3As3cret:p@example.com/', 'url', rules).problem, {
    path: 'url',
    message: /^the user name in the url must not have a colon, [a-z ]+$/,
  })
  t.match(evaluateUrl(`https://u:${'p'.repeat(1025)}@example.com/`, 'urls[1]', rules).problem, { path: 'urls[1]', code: 'too_big' })
})
