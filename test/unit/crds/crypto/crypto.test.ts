import { createHash, createHmac } from 'node:crypto'
import t from 'tap'
import { deriveLinkSecret, isKeyText, keyHash, LinkKey, newKeyText, newLinkKey } from '../../../../crds/src/crypto/api-keys.ts'
import { bucketUrl, presign } from '../../../../crds/src/crypto/presign.ts'
import { newOpeningKey, SealError, type SealedFor, seal, toSealingKey, unseal } from '../../../../crds/src/crypto/sealed.ts'
import { expiryOf, type Link, newSigningSecret, signLink, standardSignature, verifyLink } from '../../../../crds/src/crypto/signatures.ts'
import { assertEvery } from '../../../support/accepts.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'

const secretOf = (n: number) => Buffer.alloc(32, n).toString('base64')
const ring = { current: 'k2', keys: { k1: secretOf(1), k2: secretOf(2) } }
const link: Link = { key: 'users/default/scr_1.png', expires: NOON.getTime() / 1000 + 60 }
const signatureOf = (text: string) => new URL(text, 'http://gateway').searchParams.get('signature') ?? ''
const signature = signatureOf(signLink(link, ring))

t.test('signLink returns the same path under /files each time, with expiry and signature', async (t) => {
  const named = { ...link, attachment: 'my shot.png' }
  t.equal(signLink(named, ring), signLink(named, ring))
  const url = new URL(signLink(named, ring), 'http://gateway')
  t.equal(url.pathname, '/files/users/default/scr_1.png')
  t.equal(url.searchParams.get('expires'), String(link.expires))
  t.equal(url.searchParams.get('attachment'), 'my shot.png')
  t.match(url.searchParams.get('signature'), /^k2\.[A-Za-z0-9_-]{43}$/)
})

t.test('signLink refuses a ring without its current key', async (t) => {
  t.throws(() => signLink(link, { current: 'k9', keys: ring.keys }), { message: /k9/ })
})

t.test('verifyLink accepts a link until it expires', async (t) => {
  t.ok(verifyLink(link, signature, ring, at(59)))
  t.notOk(verifyLink(link, signature, ring, at(60)))
})

t.test('verifyLink refuses a changed link', async (t) => {
  const links: Link[] = [
    { ...link, key: 'users/default/scr_2.png' },
    { ...link, key: 'users/acme/scr_1.png' },
    { ...link, expires: link.expires + 1 },
    { ...link, attachment: 'x' },
    // It would turn a shown picture into a download.
    { ...link, attachment: '' },
  ]
  assertEvery(t, links, (other) => !verifyLink(other, signature, ring, NOON))
  const body = signature.slice(3)
  const signatures = [`k1.${body}`, `k9.${body}`, `${signature}A`, signature.slice(0, -2), '', 'k2', 'k2.', '__proto__.x', 'constructor.x']
  assertEvery(t, signatures, (other) => !verifyLink(link, other, ring, NOON))
})

t.test('verifyLink accepts links of the previous key while it is in the ring', async (t) => {
  const old = signatureOf(signLink(link, { ...ring, current: 'k1' }))
  t.ok(verifyLink(link, old, ring, NOON))
  t.notOk(verifyLink(link, old, { current: 'k2', keys: { k2: secretOf(2) } }, NOON))
})

t.test('verifyLink distinguishes a file name from the end of the preceding text', async (t) => {
  const tricky = { key: 'users/a/b.png', expires: 1_900_000_000, attachment: 'c' }
  const other = { ...tricky, key: `users/a/b.png\n1900000000` }
  t.notOk(verifyLink(other, signatureOf(signLink(tricky, ring)), ring, NOON))
})

t.test('expiryOf is the same within an hour, so that two reads of a record are equal', async (t) => {
  const hour = 3_600
  t.equal(expiryOf(at(1)), expiryOf(at(hour)))
  t.not(expiryOf(at(1)), expiryOf(at(hour + 1)))
  const lives = expiryOf(at(1), 60) - at(1).getTime() / 1000
  t.ok(lives >= 60 && lives <= 60 + hour, 'never shorter than asked for')
})

const linkKey = { key: Buffer.alloc(32, 7).toString('base64') }
const keyId = 'key_01kajq2v0vtz8m3c5x7r9w4n6p'

// Computed with Python: hmac.new(b'\x07' * 32, b'tintype-link-secret-v1\nkey_01kajq2v0vtz8m3c5x7r9w4n6p\n1', 'sha256').
t.test('deriveLinkSecret does not change between versions of Tintype, because published links depend on it', async (t) => {
  t.equal(deriveLinkSecret(linkKey, keyId, 1), 'lsk_YLwWrSVtMhqHh4IBK0Gi-lxDKlXbngu_CIjlNHCuK9c')
})

t.test('deriveLinkSecret returns another secret for another release key, API key or version', async (t) => {
  const secrets = [
    deriveLinkSecret(linkKey, keyId, 1),
    deriveLinkSecret(newLinkKey(), keyId, 1),
    deriveLinkSecret(linkKey, keyId.replace('6p', '6q'), 1),
    deriveLinkSecret(linkKey, keyId, 2),
    deriveLinkSecret(linkKey, keyId, 12),
  ]
  t.equal(new Set(secrets).size, secrets.length)
})

t.test('LinkKey accepts a new key, and refuses keys that are not 32 bytes in base64', async (t) => {
  const key = newLinkKey()
  t.strictSame(LinkKey.parse(key), key)
  t.not(newLinkKey().key, key.key)
  const wrong = ['', 'AAAA', Buffer.alloc(31).toString('base64'), '*'.repeat(44)]
  assertEvery(t, wrong, (key) => !LinkKey.safeParse({ key }).success)
})

// test/integration/operator tests that a store accepts the signature.
const access = { endpoint: 'http://127.0.0.1:9000', region: 'us-east-1', bucket: 'tintype', accessKey: 'AKIA', secretKey: 's' }
const now = new Date('2026-11-21T12:00:00.000Z')
const put = { method: 'PUT', key: 'users/acc/scr_1.png', expiresSeconds: 86_400, now } as const
const presigned = (more: Partial<Parameters<typeof presign>[1]> = {}, changes: Partial<Parameters<typeof presign>[0]> = {}): URL =>
  new URL(presign({ ...access, ...changes }, { ...put, ...more }))

// The example of "Authenticating Requests: Using Query Parameters" in the API reference of Amazon S3.
t.test('presign returns the signature of the example of Amazon S3', async (t) => {
  const keys = { accessKey: 'AKIAIOSFODNN7EXAMPLE', secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
  const bucket = { endpoint: 'https://s3.amazonaws.com', bucket: 'examplebucket', pathStyle: false }
  const { searchParams } = presigned({ method: 'GET', key: 'test.txt', now: new Date('2013-05-24T00:00:00.000Z') }, { ...keys, ...bucket })
  t.equal(searchParams.get('X-Amz-Signature'), 'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404')
})

t.test('presign builds the URL as S3 requires it, with every signed header', async (t) => {
  const url = presigned({ method: 'GET' })
  t.equal(url.pathname, '/tintype/users/acc/scr_1.png')
  t.match(Object.fromEntries(url.searchParams), {
    'X-Amz-Credential': 'AKIA/20261121/us-east-1/s3/aws4_request',
    'X-Amz-Date': '20261121T120000Z',
    'X-Amz-SignedHeaders': /^host$/,
    'X-Amz-Signature': /^[0-9a-f]{64}$/,
  })
  const { searchParams } = presigned({ headers: { 'If-None-Match': '*', 'Content-Type': 'image/png' } })
  t.equal(searchParams.get('X-Amz-SignedHeaders'), 'content-type;host;if-none-match')
})

t.test('presign returns a different signature for a different key, header or time', async (t) => {
  const changes = [{}, { key: 'users/acc/scr_2.png' }, { headers: { 'if-none-match': '*' } }, { now: new Date(now.getTime() + 1_000) }]
  t.equal(new Set(changes.map((change) => presigned(change).searchParams.get('X-Amz-Signature'))).size, 4)
})

const lifetimes = [
  { name: 'rounds up to whole seconds', expiresSeconds: 0.2, seconds: '1' },
  { name: 'never exceeds seven days', expiresSeconds: 10_000_000, seconds: '604800' },
  { name: 'holds at least a second', expiresSeconds: -5, seconds: '1' },
]
for (const { name, expiresSeconds, seconds } of lifetimes)
  t.test(`presign ${name}`, async (t) => t.equal(presigned({ expiresSeconds }).searchParams.get('X-Amz-Expires'), seconds))

t.test('presign puts the bucket into the host name if the path style is off', async (t) => {
  const hosted = { endpoint: 'https://s3.example:9000', pathStyle: false }
  t.match(presigned({}, hosted), { host: 'tintype.s3.example:9000', pathname: '/users/acc/scr_1.png' })
  t.equal(presigned({ key: '' }, hosted).pathname, '/', 'the bucket itself')
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

t.test('newKeyText returns unique texts that isKeyText accepts', async (t) => {
  const texts = Array.from({ length: 1_000 }, newKeyText)
  t.equal(new Set(texts).size, 1_000)
  assertEvery(t, texts, isKeyText)
})

t.test('isKeyText refuses a text with a changed, missing or additional character', async (t) => {
  const text = newKeyText()
  const changed = [...text].flatMap((letter, i) =>
    [letter === 'a' ? 'b' : 'a', ''].map((other) => text.slice(0, i) + other + text.slice(i + 1)),
  )
  const odd = ['', 'ttk_', `${text}a`, ` ${text}`, `${text}\n`, text.replace('ttk_', 'ssk_')]
  assertEvery(t, [...changed, ...odd], (other) => !isKeyText(other), text)
})

t.test('keyHash returns the SHA-256 as a valid label value', async (t) => {
  const hash = keyHash('ttk_x')
  t.match(hash, /^[a-z2-7]{52}$/)
  let value = 0n
  for (const letter of hash) value = (value << 5n) | BigInt('abcdefghijklmnopqrstuvwxyz234567'.indexOf(letter))
  t.equal(value.toString(16).padStart(64, '0'), createHash('sha256').update('ttk_x').digest('hex'))
})

const [older, newer] = [newOpeningKey('k1'), newOpeningKey('k2')]
const options: SealedFor = { purpose: 'options', subject: 'scr-1', account: 'acme', url: 'https://example.com/' }

t.test('unseal decrypts a sealed text with any of its keys', async (t) => {
  const sealed = await seal('{"cookies":[]}', options, toSealingKey(older))
  t.equal(await unseal(sealed, options, [newer, older]), '{"cookies":[]}')
  t.notMatch(sealed, 'cookies')
})

t.test('the sealing key does not contain the private key', async (t) => {
  t.strictSame(Object.keys(toSealingKey(older)).sort(), ['crv', 'kid', 'kty', 'x'])
})

t.test('unseal refuses a changed header, a changed text, a foreign key and garbage', async (t) => {
  const sealed = await seal('secret', options, toSealingKey(older))
  const [head = '', ...rest] = sealed.split('.')
  const forged = { ...(JSON.parse(Buffer.from(head, 'base64url').toString()) as object), tintype: ['options', 'scr-2', 'acme', ''] }
  const wrong = [
    [Buffer.from(JSON.stringify(forged)).toString('base64url'), ...rest].join('.'),
    `${sealed.slice(0, -8)}AAAAAAAA`,
    await seal('secret', options, toSealingKey({ ...newer, kid: 'k1' })),
    await seal('secret', options, toSealingKey(newer)),
    'garbage',
    '',
  ]
  for (const text of wrong) await t.rejects(unseal(text, options, [older]), SealError)
})

t.test('newSigningSecret returns a prefix and 33 random bytes in base64 without padding', async (t) => {
  const secret = newSigningSecret()
  t.match(secret, /^whsec_[A-Za-z0-9+/]{44}$/)
  t.equal(Buffer.from(secret.slice(6), 'base64').length, 33)
  t.not(newSigningSecret(), secret)
})

// The example of the library tests in https://github.com/standard-webhooks/standard-webhooks.
t.test('standardSignature matches the Standard Webhooks specification', async (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const signed = (key: string) => standardSignature('{"test": 2432232314}', key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1614265330)
  t.equal(signed(secret), 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  t.equal(signed(secret.slice(6)), signed(secret))
})

t.test('standardSignature uses the text as key if it is not base64', async (t) => {
  const secret = 'a secret, that I made: up?'
  const expected = createHmac('sha256', secret).update('evt_1.1.{}').digest('base64')
  t.equal(standardSignature('{}', secret, 'evt_1', 1), `v1,${expected}`)
})
