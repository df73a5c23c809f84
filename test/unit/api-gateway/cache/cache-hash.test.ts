import t from 'tap'
import { cacheHash, type PictureRequest } from '../../../../api-gateway/src/cache/cache-hash.ts'
import { splitOptions } from '../../../../api-gateway/src/resources/screenshots/options/options-body.ts'
import { exampleOf } from '../../../../crds/src/options/examples.ts'
import { optionsByName } from '../../../../crds/src/options/groups.ts'
import { toSnakeCase } from '../../../../crds/src/text/snake-case.ts'

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
  ['the time that decides when the network counts as idle', { options: { waitUntil: ['networkidle'], timeout: 5_000 } }],
  ['a secret', { privateOptions: { authorization: 'a' } }],
  ['the client’s key', { cacheKey: 'a' }],
]
t.test('cacheHash tells apart what a picture depends on', async (t) => {
  const plain = [{}, { bestAttempt: true }, { waitUntil: ['networkidle' as const] }]
  const hashes = new Set([...plain.map((options) => hash({ options })), ...different.map(([, more]) => hash(more))])
  t.equal(hashes.size, different.length + plain.length)
})

t.test('cacheHash is keyed by the release’s secret', async (t) => {
  const other = { current: 'a', keys: { a: Buffer.from('another').toString('base64') } }
  t.not(cacheHash({ account: 'acme', url: 'https://example.com/' }, other), hash())
  t.throws(() => cacheHash({ account: 'acme', url: 'https://example.com/' }, { current: 'b', keys: {} }), /no key b/)
})

/** The hash of a request with one option of the API. */
function hashWith(name: string): string {
  const { capture, cache, private: privateOptions } = splitOptions({ [toSnakeCase(name)]: exampleOf(name) })
  const { cacheKey } = cache as { cacheKey?: string }
  return hash({ options: capture, privateOptions, cacheKey })
}

t.test('every option changes the cache hash exactly if it says that it changes the picture', async (t) => {
  const isChanged = ([name]: [string, unknown]): boolean => hashWith(name) !== hash()
  const says = [...optionsByName].filter(([, { rules }]) => ['yes', 'separate'].includes(String(rules.picture)))
  t.strictSame(
    [...optionsByName].filter(isChanged).map(([name]) => name),
    says.map(([name]) => name),
  )
  const hashes = new Set(says.map(([name]) => hashWith(name)))
  t.equal(hashes.size, says.length, 'each of them has a hash of its own')
})

t.test('cache entries of earlier versions keep their hashes', async (t) => {
  const known: [string, Partial<PictureRequest>][] = [
    ['0183be7f76e5ec42ffb5286e6cf4bb632c145a9bfa3c1ac9045faf7b0d9a71af', {}],
    ['8155d23c7afcf3c18d624ca37677b69fed858fe9f24493ac1742500723655459', { options: { fullPage: true } }],
    ['0183be7f76e5ec42ffb5286e6cf4bb632c145a9bfa3c1ac9045faf7b0d9a71af', { options: { timeout: 60_000 } }],
    ['4a3e8a8caa74ad7c7d3bf1d52085da7e0333261b83450c64d642a260c16d9ffe', { options: { bestAttempt: true, timeout: 60_000 } }],
    ['f0a77b9dd5b38278f7e9cb2362b78cbcdd2f35ce23225afddbddd4826a4e232a', { options: { storageRegion: 'eu-central-1' } }],
    ['f4fe75b8ca5c93226fe20551ce3ed4da7de82e8e9a346373ef49c5db01389f31', { privateOptions: { authorization: 'Bearer 7f3a' } }],
  ]
  for (const [expected, request] of known) t.equal(hash(request), expected, JSON.stringify(request))
})
