import t from 'tap'
import { bucketUrl, presign } from '../../../../crds/src/crypto/presign.ts'

t.test('presign builds the URL as S3 requires it', async (t) => {
  // test/integration/operator tests that a store accepts the signature.
  const access = {
    endpoint: 'https://s3.amazonaws.com',
    region: 'us-east-1',
    bucket: 'examplebucket',
    accessKey: 'AKIAIOSFODNN7EXAMPLE',
    secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  }
  const now = new Date('2013-05-24T00:00:00.000Z')
  const url = new URL(presign(access, { method: 'GET', key: 'test.txt', expiresSeconds: 86_400, now }))
  t.equal(url.pathname, '/examplebucket/test.txt')
  t.equal(url.searchParams.get('X-Amz-Credential'), 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request')
  t.equal(url.searchParams.get('X-Amz-Date'), '20130524T000000Z')
  t.equal(url.searchParams.get('X-Amz-SignedHeaders'), 'host')
  t.match(url.searchParams.get('X-Amz-Signature'), /^[0-9a-f]{64}$/)
})

const access = { endpoint: 'http://127.0.0.1:9000', region: 'us-east-1', bucket: 'tintype', accessKey: 'a', secretKey: 's' }
const now = new Date('2026-11-21T12:00:00.000Z')
const put = { method: 'PUT', key: 'users/acc/scr_1.png', expiresSeconds: 60, now } as const

t.test('presign lists every signed header', async (t) => {
  const url = new URL(presign(access, { ...put, headers: { 'If-None-Match': '*', 'Content-Type': 'image/png' } }))
  t.equal(url.searchParams.get('X-Amz-SignedHeaders'), 'content-type;host;if-none-match')
})

t.test('presign returns a different signature for a different key, header or time', async (t) => {
  const signatures = [
    presign(access, put),
    presign(access, { ...put, key: 'users/acc/scr_2.png' }),
    presign(access, { ...put, headers: { 'if-none-match': '*' } }),
    presign(access, { ...put, now: new Date(now.getTime() + 1_000) }),
  ].map((url) => new URL(url).searchParams.get('X-Amz-Signature'))
  t.equal(new Set(signatures).size, 4)
})

const lifetimes = [
  { name: 'rounds up to whole seconds', expiresSeconds: 0.2, seconds: '1' },
  { name: 'never exceeds seven days', expiresSeconds: 10_000_000, seconds: '604800' },
  { name: 'holds at least a second', expiresSeconds: -5, seconds: '1' },
]
for (const { name, expiresSeconds, seconds } of lifetimes) {
  t.test(`presign ${name}`, async (t) => {
    t.equal(new URL(presign(access, { ...put, expiresSeconds })).searchParams.get('X-Amz-Expires'), seconds)
  })
}

t.test('presign puts the bucket into the host name if the path style is off', async (t) => {
  const hosted = { ...access, endpoint: 'https://s3.example:9000', pathStyle: false }
  const url = new URL(presign(hosted, put))
  t.equal(url.host, 'tintype.s3.example:9000')
  t.equal(url.pathname, '/users/acc/scr_1.png')
  t.equal(new URL(presign(hosted, { ...put, key: '' })).pathname, '/', 'the bucket itself')
})

const places = [
  { endpoint: 'https://s3.example', bucket: 'one', pathStyle: undefined, url: 'https://s3.example/one' },
  { endpoint: 'http://[2001:db8::10]:9000', bucket: 'one', pathStyle: true, url: 'http://[2001:db8::10]:9000/one' },
  { endpoint: 'https://s3.example:443/', bucket: 'one', pathStyle: false, url: 'https://one.s3.example' },
  // A certificate for *.s3.example is not valid for one.two.s3.example.
  { endpoint: 'https://s3.example', bucket: 'one.two', pathStyle: false, url: 'https://s3.example/one.two' },
  { endpoint: 'https://192.0.2.7:9000', bucket: 'one', pathStyle: false, url: 'https://192.0.2.7:9000/one' },
  { endpoint: 'https://[2001:db8::10]', bucket: 'one', pathStyle: false, url: 'https://[2001:db8::10]/one' },
  { endpoint: 'http://s3.example', bucket: 'one.two', pathStyle: false, url: 'http://one.two.s3.example' },
]
for (const { url, ...place } of places)
  t.test(`bucketUrl of ${place.bucket}, path style ${place.pathStyle}, is ${url}`, async (t) => t.equal(bucketUrl(place), url))
