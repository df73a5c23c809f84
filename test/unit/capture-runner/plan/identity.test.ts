import t from 'tap'
import { buildSignIn } from '../../../../capture-runner/src/plan/identity.ts'
import { buildPlan } from '../../../../capture-runner/src/plan/plan.ts'

const url = 'http://example.com:8080/a/b?c'
const plain = { path: '/', httpOnly: false, secure: false }

t.test('buildSignIn uses the origin of the URL', async (t) => {
  t.strictSame(buildSignIn(url, { headers: { a: 'b' } }), {
    origin: 'http://example.com:8080',
    cookies: [],
    headers: { a: 'b' },
    headerOptions: ['headers'],
    scope: 'same_origin',
    localStorage: {},
  })
  t.equal(buildSignIn('https://Example.com:443/', { authorization: 'x' })?.origin, 'https://example.com')
})

t.test('buildSignIn converts authorization to a header', async (t) => {
  t.strictSame(buildSignIn(url, { authorization: 'Bearer x', headers: { a: 'b' } })?.headers, { a: 'b', Authorization: 'Bearer x' })
})

t.test('buildSignIn treats a missing password as empty', async (t) => {
  t.strictSame(buildSignIn(url, { basicAuthUsername: 'u' })?.basicAuth, { username: 'u', password: '' })
})

t.test('buildSignIn sets a cookie for the page’s host, or for the cookie’s domain', async (t) => {
  const cookies = [
    { name: 'a', value: '1' },
    { name: 'b', value: '2', secure: true },
    { name: 'c', value: '3', domain: '.example.org', path: '/x', httpOnly: true, sameSite: 'Lax' as const, expires: 5 },
  ]
  t.strictSame(buildSignIn(url, { cookies })?.cookies, [
    { ...plain, name: 'a', value: '1', url: 'http://example.com:8080/' },
    { ...plain, name: 'b', value: '2', url: 'https://example.com:8080/', secure: true },
    { name: 'c', value: '3', domain: '.example.org', path: '/x', httpOnly: true, secure: false, sameSite: 'Lax', expires: 5 },
  ])
})

t.test('buildPlan has no sign-in without private options', async (t) => {
  t.notOk('signIn' in buildPlan(url, {}))
  t.notOk('signIn' in buildPlan(url, {}, {}))
})
