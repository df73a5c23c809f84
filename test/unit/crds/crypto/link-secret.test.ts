import t from 'tap'
import { deriveLinkSecret, LinkKey, newLinkKey } from '../../../../crds/src/crypto/link-secret.ts'

const linkKey = { key: Buffer.alloc(32, 7).toString('base64') }
const keyId = 'key_01kajq2v0vtz8m3c5x7r9w4n6p'

t.test('deriveLinkSecret returns lsk_ and 43 characters, and the same secret each time', async (t) => {
  t.match(deriveLinkSecret(linkKey, keyId, 1), /^lsk_[\w-]{43}$/)
  t.equal(deriveLinkSecret(linkKey, keyId, 1), deriveLinkSecret(linkKey, keyId, 1))
})

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
  for (const wrong of ['', 'AAAA', Buffer.alloc(31).toString('base64'), '*'.repeat(44)])
    t.notOk(LinkKey.safeParse({ key: wrong }).success, wrong)
})
