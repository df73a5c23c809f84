import t from 'tap'
import { createMatcher } from '../../../../capture-runner/src/blocking/patterns.ts'

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

t.test('createMatcher matches if any pattern matches, and never without patterns', async (t) => {
  t.ok(createMatcher(['/none/', '*.png'])('https://a.example/x.png'))
  t.notOk(createMatcher([])('https://a.example/x.png'))
})

t.test('createMatcher stays fast with many stars', async (t) => {
  t.notOk(createMatcher([`${'*a'.repeat(200)}b`])('a'.repeat(8_000)))
})
