import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import {
  compareCodePoints,
  encodeRfc3986,
  signedParameters,
  toCanonicalQuery,
  toSignedText,
} from '../../../../api-gateway/client/src/link/canonical.ts'
import { linkSignature } from '../../../../api-gateway/client/src/link/sign.ts'
import links from '../../../support/sources/link-vectors.json' with { type: 'json' }

// The vectors were made with the parser and the encoder of Python, so that they check the rules and not this implementation.

t.ok(links.vectors.length > 35, `${links.vectors.length} vectors`)

for (const { name, query, canonical, signature } of links.vectors) {
  t.test(`toCanonicalQuery: ${name}`, async (t) => {
    t.equal(toCanonicalQuery(query), canonical)
    t.equal(await linkSignature(query, links.secret), signature)
  })
}

t.test('only equal parameters have equal signatures', async (t) => {
  const byCanonical = Map.groupBy(links.vectors, ({ canonical }) => canonical)
  const bySignature = Map.groupBy(links.vectors, ({ signature }) => signature)
  t.equal(bySignature.size, byCanonical.size)
  t.ok(byCanonical.size < links.vectors.length, 'some vectors differ in order and encoding only')
})

t.test('toSignedText begins with the version of the scheme, so that a signature has no other use', async (t) => {
  t.equal(toSignedText('b=2&a=1&signature=x'), 'tintype-take-v1\na=1&b=2')
  t.equal(await linkSignature('a=1', 'lsk_x'), createHmac('sha256', 'lsk_x').update('tintype-take-v1\na=1').digest('hex'))
})

t.test('toCanonicalQuery does not depend on the order of parameters', async () => {
  const pair = fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 8 }), fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), (pairs, ranks) => {
      const shuffled = pairs.map((entry, index) => ({ entry, rank: ranks[index]! })).sort((a, b) => a.rank - b.rank)
      const canonical = toCanonicalQuery(new URLSearchParams(pairs))
      return canonical === toCanonicalQuery(new URLSearchParams(shuffled.map(({ entry }) => entry)))
    }),
  )
})

/** Any character, as `unit: 'binary'`, which takes a second to be ready. Every second one has one UTF-16 unit, which the order of units puts elsewhere. */
const text = fc.string({ unit: fc.oneof(fc.nat(0xffff), fc.nat(0x10ffff)).map((code) => String.fromCodePoint(code)) })

t.test('toCanonicalQuery of a canonical query is the same query', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 8 }), (pairs) => {
      const canonical = toCanonicalQuery(new URLSearchParams(pairs))
      return toCanonicalQuery(canonical) === canonical && /^[A-Za-z0-9\-._~%=&]*$/.test(canonical)
    }),
  )
})

t.test('compareCodePoints orders text as its UTF-8 bytes', async () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [left, right] = [a.toWellFormed(), b.toWellFormed()]
      return Math.sign(compareCodePoints(left, right)) === Buffer.compare(Buffer.from(left), Buffer.from(right))
    }),
  )
})

t.test('encodeRfc3986 leaves only unreserved characters', async (t) => {
  const all = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('')
  t.equal(encodeRfc3986(all).replaceAll(/%[0-9A-F]{2}/g, ''), '-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~')
})

t.test('signedParameters keeps the order of the query', async (t) => {
  t.strictSame(signedParameters('b=2&b=1&utm_source=x&a=3&signature=y'), [
    ['b', '2'],
    ['b', '1'],
    ['a', '3'],
  ])
})
