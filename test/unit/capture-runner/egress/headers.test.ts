import t from 'tap'
import { endToEnd, withHost } from '../../../../capture-runner/src/egress/headers.ts'

t.test('endToEnd keeps the order, spelling and repetition of end-to-end headers', async (t) => {
  const lines = ['X-One', '1', 'set-cookie', 'a=1', 'Set-Cookie', 'b=2', 'Content-Length', '5', 'x-empty', '']
  t.strictSame(endToEnd(lines), lines)
})

t.test('endToEnd drops hop-by-hop headers and those that Connection names', async (t) => {
  const lines = [
    'Connection',
    'close, X-Hop',
    'Keep-Alive',
    'timeout=5',
    'Proxy-Connection',
    'keep-alive',
    'PROXY-AUTHORIZATION',
    'Basic eA==',
    'x-hop',
    '1',
  ]
  const more = [
    'Proxy-Authenticate',
    'Basic',
    'TE',
    'trailers',
    'Trailer',
    'x',
    'Transfer-Encoding',
    'chunked',
    'Upgrade',
    'h2c',
    'Accept',
    '*/*',
  ]
  t.strictSame(endToEnd([...lines, ...more]), ['Accept', '*/*'])
})

t.test('endToEnd drops lines that are not valid headers', async (t) => {
  t.strictSame(endToEnd(['Bad Name', '1', 'X-Split', 'a\r\nSet-Cookie: b', 'X-Null', 'a\u0000b', 'X-Latin', 'é']), ['X-Latin', 'é'])
})

t.test('withHost replaces every Host line by the checked one', async (t) => {
  t.strictSame(withHost(['Accept', '*/*', 'host', 'a', 'HOST', 'b'], 'example.com:8080'), ['Host', 'example.com:8080', 'Accept', '*/*'])
})
