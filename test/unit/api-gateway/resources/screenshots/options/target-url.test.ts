import t from 'tap'
import {
  evaluateTarget,
  findCredentialProblems,
  splitCredentials,
} from '../../../../../../api-gateway/src/resources/screenshots/options/target-url.ts'
import { DEFAULT_EGRESS_RULES } from '../../../../../../crds/src/addresses/address-rules.ts'

const rules = { ...DEFAULT_EGRESS_RULES, allowedHosts: ['*'] }

const accepted = [
  ['https://example.com', 'https://example.com'],
  ['HTTPS://Example.com/A', 'https://Example.com/A'],
  ['http://example.com:8080/a b?c#d', 'http://example.com:8080/a b?c#d'],
  ['https://example.com/@name', 'https://example.com/@name'],
  ['http://page.sites.svc.cluster.local/', 'http://page.sites.svc.cluster.local/'],
  ['https://münchen.example/', 'https://münchen.example/'],
  ['http://93.184.216.34/', 'http://93.184.216.34/'],
] as const
for (const [text, url] of accepted)
  t.test(`evaluateTarget accepts ${text}`, async (t) => t.strictSame(evaluateTarget(text, rules), { url }))

const refused = [
  ['', 'invalid_url'],
  ['example.com', 'invalid_url'],
  [' https://example.com', 'invalid_url'],
  ['https://exam ple.com/', 'invalid_url'],
  ['https://example.com/\nHost: x', 'invalid_url'],
  ['https://example.com:99999/', 'invalid_url'],
  ['https:example.com', 'host_required'],
  ['https://', 'host_required'],
  ['https:///path', 'host_required'],
  ['https://:80/', 'host_required'],
  ['about:blank', 'unsupported_scheme'],
  ['data:text/html,x', 'unsupported_scheme'],
  ['https://user@example.com/', 'credentials_in_url'],
  ['https://user:pass@example.com/', 'credentials_in_url'],
  [`https://example.com/${'a'.repeat(8173)}`, 'too_big'],
  ['http://127.0.0.1/', 'url_not_allowed'],
  ['http://127.1/', 'url_not_allowed'],
  ['http://2130706433/', 'url_not_allowed'],
  ['http://[::1]/', 'url_not_allowed'],
  ['http://[::ffff:10.0.0.1]/', 'url_not_allowed'],
  ['http://localhost/', 'url_not_allowed'],
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
  ['https://example.com/', { text: 'https://example.com/' }],
  ['https://example.com/@me?a=b@c', { text: 'https://example.com/@me?a=b@c' }],
  ['https://@example.com/', { text: 'https://example.com/' }],
  ['https://:@example.com/', { text: 'https://example.com/' }],
  ['https://u@example.com/', { text: 'https://example.com/', credentials: { basicAuthUsername: 'u', basicAuthPassword: '' } }],
  ['HTTPS://u:p:q@example.com', { text: 'HTTPS://example.com', credentials: { basicAuthUsername: 'u', basicAuthPassword: 'p:q' } }],
  [
    'https://u%40x:p%2Fq@example.com/',
    { text: 'https://example.com/', credentials: { basicAuthUsername: 'u@x', basicAuthPassword: 'p/q' } },
  ],
  ['https://u:100%@example.com/', { text: 'https://example.com/', credentials: { basicAuthUsername: 'u', basicAuthPassword: '100%' } }],
  ['https://u:a@b@example.com/', { text: 'https://example.com/', credentials: { basicAuthUsername: 'u', basicAuthPassword: 'a@b' } }],
  ['https://example.com\\@evil.example/', { text: 'https://example.com\\@evil.example/' }],
  ['mailto:a@example.com', { text: 'mailto:a@example.com' }],
] as const
for (const [text, split] of cases) t.test(`splitCredentials takes ${text} apart`, async (t) => t.strictSame(splitCredentials(text), split))

t.test('splitCredentials agrees with the browser’s URL about who is asked', async (t) => {
  const texts = cases.slice(0, 10).map(([text]) => text)
  t.strictSame(
    texts.map((text) => [text, new URL(splitCredentials(text).text).host, splitCredentials(text).credentials !== undefined]),
    texts.map((text) => [text, new URL(text).host, new URL(text).username !== '']),
  )
})

t.test('findCredentialProblems bounds what may be sealed, and does not repeat it', async (t) => {
  t.strictSame(findCredentialProblems(undefined, 'url'), [])
  t.strictSame(findCredentialProblems({ basicAuthUsername: 'u', basicAuthPassword: 'p' }, 'url'), [])
  t.match(findCredentialProblems({ basicAuthUsername: 'a:s3cret', basicAuthPassword: 'p' }, 'url'), [
    { path: 'url', message: /^the user name in the url must not have a colon, [a-z ]+$/ },
  ])
  t.match(findCredentialProblems({ basicAuthUsername: 'u', basicAuthPassword: 'p'.repeat(1025) }, 'urls[1]'), [
    { path: 'urls[1]', code: 'too_big' },
  ])
})
