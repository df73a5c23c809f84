import { FiltersEngine } from '@ghostery/adblocker'
import t from 'tap'
import { createMatcher, RequestEvaluator, toKind } from '../../../../capture-runner/src/blocking/request-evaluator.ts'
import type { RequestRules } from '../../../../capture-runner/src/plan/blocking.ts'
import { assertEvery } from '../../../support/accepts.ts'

const engine = FiltersEngine.parse('||ads.example^$third-party\n||count.example/x.js$script,redirect=noopjs\n@@||ads.example/fine^')
const NOTHING: RequestRules = { engines: [], refused: [], refusedKinds: [], allowed: [], thirdParty: false }
const PAGE = 'https://news.example/'
interface Case {
  rules?: Partial<RequestRules>
  url?: string
  resourceType?: string
  isPage?: boolean
}
const ADS = { engines: ['ads' as const] }
const FRAME = { resourceType: 'Document' }
const all: Partial<RequestRules> = { ...ADS, refused: ['*'], thirdParty: true, allowed: ['ads.example'] }
const cases: readonly (readonly [name: string, decision: string, asked: Case])[] = [
  ['passes a request without a matching rule', 'pass', { url: 'https://ads.example/a.js' }],
  ['blocks a request in a list', 'refuse', { rules: ADS, url: 'https://ads.example/a.js' }],
  ['passes a request that a list excepts', 'pass', { rules: ADS, url: 'https://ads.example/fine/a.js' }],
  ['responds to a script that has a replacement', 'empty', { rules: ADS, url: 'https://count.example/x.js' }],
  ['responds to a blocked frame, which would show an error', 'empty', { rules: ADS, url: 'https://ads.example/', ...FRAME }],
  ['blocks patterns', 'refuse', { rules: { refused: ['*/a.js'] } }],
  ['blocks resource types', 'refuse', { rules: { refusedKinds: ['font'] }, resourceType: 'Font' }],
  ['treats fetch and xhr as the same type', 'refuse', { rules: { refusedKinds: ['fetch'] }, resourceType: 'XHR' }],
  ['blocks other sites', 'refuse', { rules: { thirdParty: true } }],
  ['passes other hosts of the site', 'pass', { rules: { thirdParty: true }, url: 'https://cdn.news.example/f' }],
  ['gives allowed patterns precedence over all rules', 'pass', { rules: all, url: 'https://ads.example/a.js' }],
  ['never blocks the page', 'pass', { rules: { refused: ['*'], refusedKinds: ['document'] }, url: PAGE, ...FRAME, isPage: true }],
  ['passes data URLs', 'pass', { rules: { refused: ['*'] }, url: 'data:text/plain,x' }],
]
for (const [name, decision, { rules = {}, url = 'https://any.example/a.js', resourceType = 'Script', isPage = false }] of cases) {
  t.test(`RequestEvaluator ${name}`, async (t) => {
    const evaluator = new RequestEvaluator(PAGE, { ...NOTHING, ...rules }, rules.engines ? [engine] : [])
    t.equal(evaluator.evaluate({ url, resourceType, isPage, documentUrl: undefined }), decision)
  })
}

t.test('RequestEvaluator uses the page’s URL after redirects, and counts blocked requests', async (t) => {
  const evaluator = new RequestEvaluator('https://short.example/1', { ...NOTHING, thirdParty: true }, [])
  const ask = (url: string, resourceType: string, isPage = false) =>
    evaluator.evaluate({ url, resourceType, isPage, documentUrl: undefined })
  ask('https://short.example/1', 'Document', true)
  ask(PAGE, 'Document', true)
  t.equal(ask('https://news.example/a.png', 'Image'), 'pass')
  t.equal(ask('https://short.example/b.png', 'Image'), 'refuse')
  t.equal(evaluator.refused, 1)
  t.strictSame([...evaluator.refusedPlaces], ['https://short.example/b.png'])
})

t.test('toKind maps an unknown type to other', async (t) => {
  t.strictSame(['Image', 'Ping', 'Prefetch'].map(toKind), ['image', 'other', 'other'])
})

const patterns: [pattern: string, address: string, fits: boolean][] = [
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

for (const [pattern, address, fits] of patterns) {
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
