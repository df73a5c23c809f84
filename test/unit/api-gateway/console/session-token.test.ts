import { randomBytes } from 'node:crypto'
import t from 'tap'
import { CODE_MILLISECONDS, openToken, SESSION_MILLISECONDS, sealToken } from '../../../../api-gateway/src/console/session-token.ts'

const secret = () => randomBytes(32).toString('base64')
const ring = { current: 'b', keys: { a: secret(), b: secret() } }
const at = Date.parse('2026-11-21T10:00:00Z')
const content = { key: 'key_x', uid: 'u', generation: 1, hash: 'h', at }
const after = (milliseconds: number) => new Date(at + milliseconds)

t.test('openToken returns what sealToken was given, until the end of its lifetime', async (t) => {
  const token = sealToken('session', content, ring)
  t.match(openToken('session', token, ring, after(SESSION_MILLISECONDS - 1)), content)
  t.equal(openToken('session', token, ring, after(SESSION_MILLISECONDS)), undefined)
  const code = sealToken('code', content, ring)
  t.match(openToken('code', code, ring, after(CODE_MILLISECONDS - 1)), content)
  t.equal(openToken('code', code, ring, after(CODE_MILLISECONDS)), undefined)
})

t.test('openToken refuses a token of another purpose', async (t) => {
  t.equal(openToken('session', sealToken('code', content, ring), ring, after(0)), undefined)
})

t.test('openToken accepts tokens of an earlier key while the ring has it', async (t) => {
  const token = sealToken('session', content, ring)
  const rotated = { current: 'c', keys: { ...ring.keys, c: secret() } }
  t.match(openToken('session', token, rotated, after(0)), content)
  t.equal(openToken('session', token, { current: 'c', keys: { c: secret() } }, after(0)), undefined)
})

t.test('openToken refuses every changed token', async (t) => {
  const token = sealToken('session', content, ring)
  for (let index = 0; index < token.length; index++) {
    const other = token[index] === 'A' ? 'B' : 'A'
    const changed = token.slice(0, index) + other + token.slice(index + 1)
    // The last letter of base64url can have unused bits.
    if (Buffer.from(changed.split('.')[1] ?? '', 'base64url').equals(Buffer.from(token.split('.')[1]!, 'base64url')) && index > 1) continue
    t.equal(openToken('session', changed, ring, after(0)), undefined, `letter ${index}`)
  }
  for (const text of ['', '.', 'b.', 'b.AAAA', `b.${'A'.repeat(3_000)}`, '__proto__.AAAA'])
    t.equal(openToken('session', text, ring, after(0)), undefined, text.slice(0, 20))
})

t.test('sealToken makes different tokens, which reveal nothing', async (t) => {
  const [one, other] = [sealToken('session', content, ring), sealToken('session', content, ring)]
  t.not(one, other)
  t.notMatch(Buffer.from(one.split('.')[1]!, 'base64url').toString('latin1'), /key_x/)
})
