import t from 'tap'
import { expiryOf, type Link, signLink, verifyLink } from '../../../../crds/src/crypto/download-link.ts'
import { at, NOON } from '../../../support/fakes/builders.ts'

const secret = (n: number) => Buffer.alloc(32, n).toString('base64')
const ring = { current: 'k2', keys: { k1: secret(1), k2: secret(2) } }
const link: Link = { key: 'users/default/scr_1.png', expires: NOON.getTime() / 1000 + 60 }
const signatureOf = (text: string) => new URL(text, 'http://gateway').searchParams.get('signature') ?? ''
const signature = signatureOf(signLink(link, ring))

t.test('signLink returns a path under /files with expiry and signature', async (t) => {
  const url = new URL(signLink({ ...link, attachment: 'my shot.png' }, ring), 'http://gateway')
  t.equal(url.pathname, '/files/users/default/scr_1.png')
  t.equal(url.searchParams.get('expires'), String(link.expires))
  t.equal(url.searchParams.get('attachment'), 'my shot.png')
  t.match(url.searchParams.get('signature'), /^k2\.[A-Za-z0-9_-]{43}$/)
})

t.test('signLink returns the same link for the same file every time', async (t) => {
  t.equal(signLink(link, ring), signLink(link, ring))
})

t.test('signLink refuses a ring without its current key', async (t) => {
  t.throws(() => signLink(link, { current: 'k9', keys: ring.keys }), { message: /k9/ })
})

t.test('verifyLink accepts a link until it expires', async (t) => {
  t.ok(verifyLink(link, signature, ring, at(59)))
  t.notOk(verifyLink(link, signature, ring, at(60)))
})

t.test('verifyLink refuses a changed link', async (t) => {
  const changed: Link[] = [
    { ...link, key: 'users/default/scr_2.png' },
    { ...link, key: 'users/acme/scr_1.png' },
    { ...link, expires: link.expires + 1 },
    { ...link, attachment: 'x' },
  ]
  for (const other of changed) t.notOk(verifyLink(other, signature, ring, NOON), JSON.stringify(other))
  for (const other of [
    '',
    'k2',
    'k2.',
    `k1.${signature.slice(3)}`,
    `k9.${signature.slice(3)}`,
    `${signature}A`,
    signature.slice(0, -2),
    '__proto__.x',
    'constructor.x',
  ]) {
    t.notOk(verifyLink(link, other, ring, NOON), other)
  }
})

t.test('an empty attachment added to a link turns a shown picture into a download: verifyLink refuses it', async (t) => {
  t.notOk(verifyLink({ ...link, attachment: '' }, signature, ring, NOON))
})

t.test('verifyLink accepts links of the previous key while it is in the ring', async (t) => {
  const old = signatureOf(signLink(link, { ...ring, current: 'k1' }))
  t.ok(verifyLink(link, old, ring, NOON))
  t.notOk(verifyLink(link, old, { current: 'k2', keys: { k2: secret(2) } }, NOON))
})

t.test('verifyLink distinguishes a file name from the end of the preceding text', async (t) => {
  const tricky = { key: 'users/a/b.png', expires: 1_900_000_000, attachment: 'c' }
  const other = { key: `users/a/b.png\n1900000000`, expires: 1_900_000_000, attachment: 'c' }
  t.notOk(verifyLink(other, signatureOf(signLink(tricky, ring)), ring, NOON))
})

t.test('expiryOf is the same within an hour, so that two reads of a record are equal', async (t) => {
  const hour = 3_600
  t.equal(expiryOf(at(1)), expiryOf(at(hour)))
  t.not(expiryOf(at(1)), expiryOf(at(hour + 1)))
  const lives = expiryOf(at(1), 60) - at(1).getTime() / 1000
  t.ok(lives >= 60 && lives <= 60 + hour, 'never shorter than asked for')
})
