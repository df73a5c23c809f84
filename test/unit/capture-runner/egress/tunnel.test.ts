import t from 'tap'
import { parseAuthority } from '../../../../capture-runner/src/egress/tunnel.ts'

t.test('parseAuthority reads names, addresses and ports', async (t) => {
  t.strictSame(parseAuthority('example.com:443'), { host: 'example.com', port: 443 })
  t.strictSame(parseAuthority('[::1]:80'), { host: '[::1]', port: 80 })
  t.strictSame(parseAuthority('[::ffff:127.0.0.1]:80'), { host: '[::ffff:127.0.0.1]', port: 80 })
})

t.test('parseAuthority reads nothing else', async (t) => {
  for (const text of [
    '',
    'example.com',
    'example.com:',
    ':80',
    'user@example.com:80',
    'a:b:80',
    '::1:80',
    'example.com/:80',
    'a b:80',
    'a:123456',
    '[x]:80',
  ]) {
    t.equal(parseAuthority(text), undefined, JSON.stringify(text))
  }
})
