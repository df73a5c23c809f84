import t from 'tap'
import { cacheHash, type PictureRequest } from '../../../../api-gateway/src/cache/cache-hash.ts'

const ring = { current: 'a', keys: { a: Buffer.from('secret').toString('base64') } }
const hash = (more: Partial<PictureRequest> = {}) => cacheHash({ account: 'acme', url: 'https://example.com/', ...more }, ring)

const same: [string, Partial<PictureRequest>, Partial<PictureRequest>][] = [
  ['a default that is written', {}, { options: { format: 'png', delay: 0 } }],
  ['the order of options', { options: { delay: 1, fullPage: true } }, { options: { fullPage: true, delay: 1 } }],
  ['how long it may take', {}, { options: { timeout: 5_000, jobTimeout: 60_000, captureTimeout: 2_000, retries: 3, retryDelay: 5 } }],
]
for (const [name, one, other] of same) {
  t.test(`cacheHash is the same whatever ${name}`, async (t) => t.equal(hash(one), hash(other)))
}

const different: [string, Partial<PictureRequest>][] = [
  ['the account', { account: 'other' }],
  ['the address', { url: 'https://example.com/#a' }],
  ['an option', { options: { delay: 1 } }],
  ['the time that decides a best attempt', { options: { bestAttempt: true, timeout: 5_000 } }],
  ['a secret', { privateOptions: { authorization: 'a' } }],
  ['the client’s key', { cacheKey: 'a' }],
]
t.test('cacheHash tells apart what a picture depends on', async (t) => {
  const hashes = new Set([hash(), hash({ options: { bestAttempt: true } }), ...different.map(([, more]) => hash(more))])
  t.equal(hashes.size, different.length + 2)
})

t.test('cacheHash is keyed by the release’s secret', async (t) => {
  const other = { current: 'a', keys: { a: Buffer.from('another').toString('base64') } }
  t.not(cacheHash({ account: 'acme', url: 'https://example.com/' }, other), hash())
  t.throws(() => cacheHash({ account: 'acme', url: 'https://example.com/' }, { current: 'b', keys: {} }), /no key b/)
})
