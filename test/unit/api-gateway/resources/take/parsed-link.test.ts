import t from 'tap'
import { parseLinkQuery } from '../../../../../api-gateway/src/resources/take/link-query.ts'
import { ParsedLink, ParsedLinks } from '../../../../../api-gateway/src/resources/take/parsed-link.ts'

const aLink = () => new ParsedLink(parseLinkQuery(''), { url: 'https://example.com/', format: 'png', cache: { cache: true, cacheTtl: 60 } })
const aRing = (secret: string) => ({ current: 'a', keys: { a: Buffer.from(secret).toString('base64') } })

t.test('ParsedLink calculates another hash for another account or key ring', async (t) => {
  const link = aLink()
  const [ring, other] = [aRing('a secret'), aRing('another')]
  const hash = link.hashFor('acme', ring)
  t.match(hash, /^[0-9a-f]{64}$/)
  t.equal(link.hashFor('acme', ring), hash)
  t.not(link.hashFor('other', ring), hash)
  t.not(link.hashFor('acme', other), hash)
  t.equal(link.hashFor('acme', ring), hash)
})

t.test('ParsedLinks forgets the links that were not used for the longest time, by number and by length', async (t) => {
  const links = new ParsedLinks()
  for (let index = 0; index <= 1_000; index++) links.add(String(index), aLink())
  t.equal(links.get('0'), undefined)
  t.ok(links.get('1'))
  for (let index = 0; index < 125; index++) links.add(`${index}`.padEnd(8_000), aLink())
  t.equal(links.get('1'), undefined)
  t.ok(links.get('124'.padEnd(8_000)))
  links.add('', aLink())
  t.ok(links.get(''))
})
