import t from 'tap'
import { matchesHost, matchesUrl } from '../../../../crds/src/addresses/host-patterns.ts'

const patterns = ['example.com', '*.example.org', 'xn--bcher-kva.example', '203.0.113.7', '*.0.0.1', 'localhost']

const hosts: [host: string, isAllowed: boolean][] = [
  ['example.com', true],
  ['EXAMPLE.Com', true],
  ['example.com.', true],
  ['example.com..', false],
  ['www.example.com', false],
  ['badexample.com', false],
  ['example.com.evil.net', false],
  ['example.co', false],
  ['a.example.org', true],
  ['a.b.example.org.', true],
  ['example.org', false],
  ['.example.org', false],
  ['badexample.org', false],
  ['bücher.example', true],
  ['BÜCHER.example', true],
  ['xn--bcher-kva.example', true],
  ['ｅｘａｍｐｌｅ。com', true],
  ['exаmple.com', false], // with a Cyrillic а
  ['203.0.113.7', true],
  ['203.0.113.7.', true],
  ['0xcb.0.0x71.7', true],
  ['3405803783', true],
  ['203.0.113.8', false],
  ['127.0.0.1', false],
  ['[::ffff:203.0.113.7]', false],
  ['[::1]', false],
  ['::1', false],
  ['localhost', true],
  ['example.com:443', false],
  ['example.com/', false],
  ['example.com@evil.net', false],
  ['', false],
]

t.test('a host pattern matches the host as a browser reads it', async (t) => {
  for (const [host, isAllowed] of hosts) t.equal(matchesHost(host, patterns), isAllowed, host)
  t.notOk(matchesHost('example.com', []))
})

const urls: [url: string, isAllowed: boolean][] = [
  ['https://example.com/', true],
  ['http://EXAMPLE.com.:8080/a?b#c', true],
  ['https://user:secret@example.com/', true],
  ['https:\\\\example.com\\', true],
  ['https://example.com@evil.net/', false],
  ['https://evil.net/example.com', false],
  ['https://evil.net#@example.com/', false],
  ['https://example.com%2eevil.net/', false],
  ['http://0xcb.0.0x71.7/', true],
  ['http://[::1]/', false],
  ['ftp://example.com/', false],
  ['other://example.com/', false],
  ['about:blank', false],
  ['data:text/html,example.com', false],
  ['blob:https://example.com/0', false],
  ['no url', false],
]

t.test('a host pattern matches http and https URLs of that host', async (t) => {
  for (const [url, isAllowed] of urls) t.equal(matchesUrl(url, patterns), isAllowed, url)
})
