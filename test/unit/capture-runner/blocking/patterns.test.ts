import t from 'tap'
import { createMatcher } from '../../../../capture-runner/src/blocking/request-evaluator.ts'
import { assertEvery } from '../../../support/accepts.ts'

const cases: [pattern: string, address: string, fits: boolean][] = [
  ['*', 'https://a.example/', true],
  ['*://*.example.com/*', 'https://ads.example.com/x', true],
  ['*://*.example.com/*', 'https://example.com/x', false],
  ['https://a.example/*.js', 'https://a.example/x/y.js', true],
  ['https://a.example/*.js', 'https://a.example/x.js?v=1', false],
  ['*/DATA.*', 'https://a.example/data.json', true],
  ['/ads/', 'https://a.example/ads/1.png', true],
  ['/ads/', 'https://a.example/adverts', false],
  ['a*b*a', 'aba', true],
  ['a*b*a', 'ab', false],
  ['ab*ba', 'aba', false],
  ['*?v=(1)', 'https://a.example/?v=(1)', true],
  ['a**b', 'a-b', true],
]

for (const [pattern, address, fits] of cases) {
  t.test(`createMatcher: ${pattern} ${fits ? 'fits' : 'does not fit'} ${address}`, async (t) => {
    t.equal(createMatcher([pattern])(address), fits)
  })
}

/** Browsers send `bücher.example` in Punycode, and other letters with or without codes. */
t.test('a pattern with a percent-encoded host matched nothing, without a word', async (t) => {
  const page = 'https://www.xn--bcher-kva.example:8443/caf%C3%A9.png?q=%41b'
  const fitting = [
    ...['b%C3%BCcher.example', '*://*.B%c3%9cCHER.example:8443/*', '*b%C3%BCch*', 'bu%CC%88cher.example:8443/caf%C3%A9', '*%C3%A9.png*'],
    ...['*://*.b%C3%BCcher.ex%61mple:8443/*', 'xn--bcher%2dkva', '?q=%61B'],
  ]
  assertEvery(t, fitting, (pattern) => createMatcher([pattern])(page))
  for (const pattern of ['b%C3%BCcherei', '*%2A*', '*%C3*z', 'a%20b']) t.notOk(createMatcher([pattern])(page), pattern)
  t.ok(createMatcher(['caf%C3'])(page), 'a part of a letter fits as it is')
})

t.test('createMatcher matches if any pattern matches, and never without patterns', async (t) => {
  t.ok(createMatcher(['/none/', '*.png'])('https://a.example/x.png'))
  t.notOk(createMatcher([])('https://a.example/x.png'))
})

t.test('createMatcher stays fast with many stars', async (t) => {
  t.notOk(createMatcher([`${'*a'.repeat(200)}b`])('a'.repeat(8_000)))
})
