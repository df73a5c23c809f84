import t from 'tap'
import { findCredentialProblems, splitCredentials } from '../../../../api-gateway/src/translate/url-credentials.ts'

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
  for (const [text] of cases.slice(0, 10)) {
    const { username, host, href } = new URL(text)
    t.equal(new URL(splitCredentials(text).text).host, host, text)
    t.equal(splitCredentials(text).credentials !== undefined, username !== '', href)
  }
})

t.test('findCredentialProblems bounds what may be sealed, and does not repeat it', async (t) => {
  t.strictSame(findCredentialProblems(undefined, 'url'), [])
  t.strictSame(findCredentialProblems({ basicAuthUsername: 'u', basicAuthPassword: 'p' }, 'url'), [])
  t.match(findCredentialProblems({ basicAuthUsername: 'u', basicAuthPassword: 'p'.repeat(1025) }, 'urls[1]'), [
    { path: 'urls[1]', code: 'too_big' },
  ])
})
