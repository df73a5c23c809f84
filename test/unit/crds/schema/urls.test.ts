import t from 'tap'
import { MAX_URL_LENGTH, TargetUrl } from '../../../../crds/src/schema/urls.ts'

const accepted = [
  'http://example.com',
  'https://example.com/',
  'https://example.com/a?b=c#d',
  'https://example.com?q',
  'https://user.example.com/@me',
  'http://[2001:db8::1]:8080/x',
  'https://例え.jp/ü',
  `https://example.com/${'x'.repeat(MAX_URL_LENGTH - 20)}`,
]
const refused = [
  '',
  'example.com',
  'ftp://example.com/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'https://',
  'https:///path',
  'https://user:secret@example.com/',
  'https://user@example.com/',
  'http://exam ple.com/',
  ' https://example.com/',
  'HTTPS://example.com/',
  `https://example.com/${'x'.repeat(MAX_URL_LENGTH)}`,
]

t.test('TargetUrl accepts http and https URLs with a host', async (t) => {
  for (const url of accepted) t.ok(TargetUrl.safeParse(url).success, url.slice(0, 60))
})

t.test('TargetUrl refuses other schemes, credentials and invalid URLs', async (t) => {
  for (const url of refused) t.notOk(TargetUrl.safeParse(url).success, url.slice(0, 60))
})
