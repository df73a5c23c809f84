import { randomBytes } from 'node:crypto'
import t from 'tap'
import { openToken, sealToken } from '../../../../api-gateway/src/console/sessions.ts'

const secret = () => randomBytes(32).toString('base64')
const ring = { current: 'b', keys: { a: secret(), b: secret() } }
const at = Date.parse('2026-11-21T10:00:00Z')
const content = { key: 'key_x', uid: 'u', generation: 1, hash: 'h', at }
const now = new Date(at)

t.test('openToken refuses a token of another purpose', async (t) => {
  t.equal(openToken('session', sealToken('code', content, ring), ring, now), undefined)
})

t.test('openToken accepts tokens of an earlier key while the ring has it', async (t) => {
  const token = sealToken('session', content, ring)
  const rotated = { current: 'c', keys: { ...ring.keys, c: secret() } }
  t.match(openToken('session', token, rotated, now), content)
  t.equal(openToken('session', token, { current: 'c', keys: { c: secret() } }, now), undefined)
})

t.test('openToken refuses every changed token', async (t) => {
  const token = sealToken('session', content, ring)
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'A' ? 'B' : 'A'
    const changed = token.slice(0, index) + other + token.slice(index + 1)
    // The last letter of base64url can have unused bits.
    if (Buffer.from(changed.split('.')[1] ?? '', 'base64url').equals(Buffer.from(token.split('.')[1]!, 'base64url')) && index > 1) continue
    t.equal(openToken('session', changed, ring, now), undefined, `letter ${index}`)
  }
  for (const text of ['', '.', 'b.', 'b.AAAA', `b.${'A'.repeat(3_000)}`, '__proto__.AAAA'])
    t.equal(openToken('session', text, ring, now), undefined, text.slice(0, 20))
})

t.test('sealToken makes different tokens, which reveal nothing', async (t) => {
  const [one, other] = [sealToken('session', content, ring), sealToken('session', content, ring)]
  t.not(one, other)
  t.notMatch(Buffer.from(one.split('.')[1]!, 'base64url').toString('latin1'), /key_x/)
})
