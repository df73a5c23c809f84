import t from 'tap'
import { checkTemplate, DEFAULT_TEMPLATE, toFileName, toFreeName } from '../../../../api-gateway/cli/src/batch/names.ts'

const nameOf = (url: string, template = DEFAULT_TEMPLATE, fields = {}) =>
  toFileName(template, { url, number: 7, total: 120, format: 'png', ...fields })

t.test('toFileName makes a name from the URL', async (t) => {
  t.equal(nameOf('https://example.com'), 'example.com.png')
  t.equal(nameOf('https://example.com/docs/intro/'), 'example.com-docs-intro.png')
  t.equal(nameOf('https://example.com:8443/a.html?page=2#top'), 'example.com-8443-a.html-page-2.png')
  t.equal(nameOf('https://example.com/gr%C3%BC%C3%9Fe'), 'example.com-grüße.png')
  t.equal(nameOf('not a url'), 'page.png')
})

t.test('toFileName never leaves the folder', async (t) => {
  for (const url of ['https://example.com/..%2f..%2fetc', 'https://example.com/a%00b', 'https://example.com/%2e%2e/%5c']) {
    t.notMatch(nameOf(url), /[/\\\0]|^\.|\.\.[/\\]/)
  }
  t.equal(nameOf('', '{path}'), 'page')
})

t.test('toFileName fills in a template', async (t) => {
  t.equal(nameOf('https://example.com/x', '{host}-{n}.{format}'), 'example.com-007.png')
  t.equal(nameOf('https://example.com/x', '{n}.{format}', { format: 'jpeg', total: 9 }), '7.jpg')
})

t.test('toFileName cuts long names and keeps the extension', async (t) => {
  const name = nameOf(`https://example.com/${'ü'.repeat(300)}`)
  t.ok(Buffer.byteLength(name) <= 180, `${Buffer.byteLength(name)} bytes`)
  t.match(name, /\.png$/)
})

t.test('checkTemplate refuses unknown fields and folders', async (t) => {
  t.throws(() => checkTemplate('{title}.png'), { message: '--name contains {title}. Use {host}, {path}, {n}, {format}.' })
  t.throws(() => checkTemplate('../{n}.png'), { message: /must not contain/ })
  t.doesNotThrow(() => checkTemplate('{host}-{n}.{format}'))
})

t.test('toFreeName numbers names that are in use, in any case', async (t) => {
  t.equal(toFreeName('a.png', new Set()), 'a.png')
  t.equal(toFreeName('A.png', new Set(['a.png', 'a-2.png'])), 'A-3.png')
})
