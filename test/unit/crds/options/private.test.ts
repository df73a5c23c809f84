import t from 'tap'
import { ScreenshotSpec } from '../../../../crds/src/kinds/screenshot.ts'
import { CaptureOptions } from '../../../../crds/src/options/catalog.ts'
import { privateContradictions } from '../../../../crds/src/options/contradictions.ts'
import { Cookie, PrivateOptions, privateOptionNames } from '../../../../crds/src/options/private.ts'
import { assertAccepts } from '../../../support/accepts.ts'

const takes = (options: object): boolean => PrivateOptions.safeParse(options).success
const contradicts = (options: PrivateOptions): string[] =>
  privateContradictions.filter(({ holds }) => holds(options)).map(({ paths }) => paths[0])

t.test('PrivateOptions shares no name with CaptureOptions, so that no spec can contain one in plain text', async (t) => {
  const shared = privateOptionNames.filter(
    (name) => name in CaptureOptions.shape || ScreenshotSpec.safeParse({ url: 'https://example.com/', options: { [name]: 'x' } }).success,
  )
  t.strictSame(shared, [])
})

t.test('PrivateOptions refuses headers that clients must not set, in upper or lower case', async (t) => {
  const forbidden = ['Host', 'cookie', 'CONTENT-LENGTH', 'Transfer-Encoding', 'connection', 'Proxy-Authorization', 'te']
  const more = ['Cookie2', 'Set-Cookie', 'Sec-Fetch-Site', 'sec-fetch-dest', ':path', 'a b', '']
  assertAccepts(t, (name) => takes({ headers: { [name]: 'x' } }), ['X-Api_Key', 'accept'], [...forbidden, ...more])
})

t.test('headers with which the browser would never send the request are refused, and similar ones are not', async (t) => {
  const refused: [string, string][] = [
    ...['', ' ', ',', '*', 'gzip, *;q=0'].map((value): [string, string] => ['Accept-Encoding', value]),
    ...['TRACE', 'track', 'PUT, CONNECT'].map((value): [string, string] => ['X-HTTP-Method-Override', value]),
    ...['', 'the shop', 'file:///etc/hosts'].map((value): [string, string] => ['referer', value]),
    ...['https://ada:secret@a.example/', 'https://a.example/#top'].map((value): [string, string] => ['referer', value]),
  ]
  const sent: [string, string][] = [
    ...['gzip,,br', 'identity', 'br;q=1'].map((value): [string, string] => ['accept-encoding', value]),
    ...['PATCH', 'retrace'].map((value): [string, string] => ['X-HTTP-Method', value]),
    ['X-Mode', 'TRACE'],
    ['Referer', 'HTTPS://a.example/?q=1'],
  ]
  assertAccepts(t, ([name, value]) => takes({ headers: { [name]: value } }), sent, refused)
})

t.test('PrivateOptions refuses header values that could inject another header', async (t) => {
  assertAccepts(t, (value) => takes({ headers: { a: value } }), ['a b', ''], ['a\r\nb: c', 'a\nb', 'a\0', 'ü'])
  assertAccepts(t, (authorization) => takes({ authorization }), ['a b'], ['a\r\nb: c', 'a\nb', 'a\0', 'ü'])
})

t.test('PrivateOptions limits the number and length of everything', async (t) => {
  const names = Array.from({ length: 65 }, (_, index) => [`h${index}`, ''])
  t.ok(takes({ headers: Object.fromEntries(names.slice(1)) }) && !takes({ headers: Object.fromEntries(names) }))
  const cookies = Array.from({ length: 101 }, () => ({ name: 'a', value: '' }))
  t.ok(takes({ cookies: cookies.slice(1) }) && !takes({ cookies }))
  t.ok(takes({ authorization: 'x'.repeat(8192) }) && !takes({ authorization: 'x'.repeat(8193) }) && !takes({ authorization: '' }))
  t.ok(takes({ basicAuthUsername: 'x'.repeat(1024) }) && !takes({ basicAuthPassword: 'x'.repeat(1025) }))
})

t.test('a user name with a colon, of which servers would see only the beginning, is refused', async (t) => {
  const user = { basicAuthUsername: 'TEAM\\ada@a.example', basicAuthPassword: 'p:q' }
  assertAccepts(t, takes, [user], [{ ...user, basicAuthUsername: 'team:ada' }])
})

t.test('a header that is given twice, in capital and small letters, is refused', async (t) => {
  assertAccepts<object>(t, takes, [{ headers: { 'X-Shop': '1', 'X-Shop-2': '2' } }], [{ headers: { 'X-Shop': '1', 'x-shop': '2' } }])
})

t.test('Cookie accepts the cookies that a browser accepts', async (t) => {
  const legal = [
    { name: 'a', value: '' },
    { name: '__Host-a', value: 'b c"d', path: '/', secure: true, httpOnly: true, sameSite: 'None', expires: 1 },
    { name: 'a', value: 'b', domain: '.example.com' },
    { name: 'a', value: 'b', domain: '127.0.0.1' },
    { name: 'n'.repeat(96), value: 'v'.repeat(4000) },
    { name: '__Secure-a', value: 'b', secure: true, domain: '.example.com', path: '/x' },
    { name: '__Host-a', value: 'b', secure: true, domain: 'example.com' },
    { name: '_Host-a', value: 'b' },
    { name: 'a', value: 'b', sameSite: 'Lax' },
    { name: 'a', value: 'b', domain: 'a_b.example.com', path: '/a b%3F' },
  ]
  const illegal = [
    { name: '', value: 'b' },
    { name: 'a=b', value: 'c' },
    { name: 'a', value: 'b;c' },
    { name: 'a', value: 'b\nc' },
    { name: 'a', value: 'b', domain: 'exa mple' },
    { name: 'a', value: 'b', path: 'x' },
    { name: 'a', value: 'b', sameSite: 'lax' },
    { name: 'a', value: 'b', expires: -1 },
    { name: 'a', value: 'b', size: 1 },
    { name: 'n'.repeat(97), value: 'v'.repeat(4000) },
    { name: '__Host-a', value: 'b' },
    { name: '__host-a', value: 'b', secure: true, domain: '.example.com' },
    { name: '__HOST-a', value: 'b', secure: true, path: '/x' },
    { name: '__secure-a', value: 'b', secure: false },
    { name: 'a', value: 'b', sameSite: 'None' },
    ...[' b', 'b ', ' '].map((value) => ({ name: 'a', value })),
    ...['/a?b', '/#a'].map((path) => ({ name: 'a', value: 'b', path })),
    ...['a..b', '..a', 'a.'].map((domain) => ({ name: 'a', value: 'b', domain })),
  ]
  assertAccepts<object>(t, (cookie) => Cookie.safeParse(cookie).success, legal, illegal)
})

t.test('privateContradictions finds options that cannot be combined', async (t) => {
  const user = { basicAuthUsername: 'u', basicAuthPassword: 'p' }
  t.strictSame(contradicts({}), [])
  t.strictSame(contradicts(user), [])
  t.strictSame(contradicts({ authorization: 'a', headers: { 'x-a': 'b' } }), [])
  t.strictSame(contradicts({ headers: { authorization: 'b' } }), [])
  t.strictSame(contradicts({ basicAuthUsername: 'u' }), ['basicAuthPassword'])
  t.strictSame(contradicts({ basicAuthPassword: 'p' }), ['basicAuthPassword'])
  t.strictSame(contradicts({ authorization: 'a', ...user }), ['authorization'])
  t.strictSame(contradicts({ authorization: 'a', headers: { AUTHORIZATION: 'b' } }), ['headers'])
  t.strictSame(contradicts({ headers: { authorization: 'b' }, ...user }), ['headers'])
})
