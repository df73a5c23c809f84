import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { signedPairs } from '../../../../../api-gateway/src/resources/take/link-query.ts'
import { canonicalQuery, isSigned, signatureOf } from '../../../../../api-gateway/src/resources/take/link-signature.ts'

const SECRET = 'lsk_secret'
const pairsOf = (query: string) => [...new URLSearchParams(query)]

t.test('a change of any character of the query or of the signature is noticed', async (t) => {
  const query = 'key=k&url=https://example.com/&format=png'
  const signature = signatureOf(pairsOf(query), SECRET)
  const changed = [...query].map((character, index) => query.slice(0, index) + (character === 'x' ? 'y' : 'x') + query.slice(index + 1))
  t.notOk(changed.some((other) => isSigned(pairsOf(other), signature, [SECRET])))
  const wrong = [...signature].map((digit, index) => signature.slice(0, index) + (digit === '0' ? '1' : '0') + signature.slice(index + 1))
  t.notOk(wrong.some((other) => isSigned(pairsOf(query), other, [SECRET])))
})

t.test('a missing pair, an additional pair and a double encoding are noticed', async (t) => {
  const signature = signatureOf(pairsOf('a=1&b=%2F'), SECRET)
  for (const query of ['a=1', 'a=1&b=%2F&c=3', 'a=1&b=%252F', 'a=1&b=/&b=/']) t.notOk(isSigned(pairsOf(query), signature, [SECRET]), query)
})

t.test('any of several secrets is accepted, but not another one', async (t) => {
  const pairs = pairsOf('a=1')
  t.ok(isSigned(pairs, signatureOf(pairs, 'previous'), ['current', 'previous']))
  t.notOk(isSigned(pairs, signatureOf(pairs, 'other'), ['current', 'previous']))
  t.notOk(isSigned(pairs, signatureOf(pairs, 'current'), []))
})

t.test('a signature in another form is refused', async (t) => {
  const pairs = pairsOf('a=1')
  const signature = signatureOf(pairs, SECRET)
  for (const text of ['', signature.toUpperCase(), signature.slice(1), `${signature}0`, `${signature} `])
    t.notOk(isSigned(pairs, text, [SECRET]), text)
})

interface Vectors {
  secret: string
  vectors: { name: string; query: string; canonical: string; signature: string }[]
}

t.test('gateway and clients sign the same text: every vector matches', async (t) => {
  const file = join(import.meta.dirname, '../../../../support/sources/link-vectors.json')
  const { secret, vectors } = JSON.parse(readFileSync(file, 'utf8')) as Vectors
  t.ok(vectors.length > 10)
  for (const { name, query, canonical, signature } of vectors) {
    const pairs = signedPairs(query)
    t.equal(canonicalQuery(pairs), `tintype-take-v1\n${canonical}`, name)
    t.equal(signatureOf(pairs, secret), signature, name)
    t.ok(isSigned(pairs, signature, [secret]), name)
  }
})
