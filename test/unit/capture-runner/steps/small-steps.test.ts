import t from 'tap'
import { hidingRules } from '../../../../capture-runner/src/steps/injection/add-styles.ts'
import { decode } from '../../../../capture-runner/src/steps/injection/load-files.ts'
import { toAbsolute } from '../../../../capture-runner/src/steps/injection/styles.ts'
import { checkAddress } from '../../../../capture-runner/src/steps/navigation/check-response.ts'

t.test('toAbsolute resolves URLs in a sheet against the sheet’s URL', async (t) => {
  const base = 'https://cdn.example/css/a.css'
  for (const [sheet, absolute] of [
    ['url(x.png)', 'url(https://cdn.example/css/x.png)'],
    ["url( '../x.png' )", "url('https://cdn.example/x.png')"],
    ['url("//b.example/x")', 'url("https://b.example/x")'],
    ['url(data:image/png;base64,AA)', 'url(data:image/png;base64,AA)'],
    ['url(#mark)', 'url(#mark)'],
  ] as const) {
    t.equal(toAbsolute(sheet, base), absolute)
  }
})

t.test('hidingRules creates a rule for each selector', async (t) => {
  t.equal(hidingRules(['#a', '.b, .c']), '#a { display: none !important }\n.b, .c { display: none !important }')
})

t.test('checkAddress distinguishes a change of site from any redirect', async (t) => {
  const check = (refusedRedirect: 'cross_site' | 'always', shown: string) => () =>
    checkAddress({ url: 'https://example.com/a', refusedRedirect }, shown)
  t.doesNotThrow(check('always', 'https://example.com/a#part'))
  t.throws(check('always', 'https://example.com/b'), { code: 'CONTENT_RULE' })
  t.doesNotThrow(check('cross_site', 'https://www.example.com/b'))
  t.throws(check('cross_site', 'https://login.example.org/'), { code: 'CONTENT_RULE' })
})

t.test('a byte order mark of a file that is added to the page is no part of its text', async (t) => {
  const text = 'body { color: red }'
  const bytesOf = (mark: number[], encoding: 'utf8' | 'utf16le', swapped = false) => {
    const bytes = Buffer.from(text, encoding)
    return Buffer.concat([Buffer.from(mark), swapped ? bytes.swap16() : bytes])
  }
  t.equal(decode(bytesOf([], 'utf8')), text)
  t.equal(decode(bytesOf([0xef, 0xbb, 0xbf], 'utf8')), text)
  t.equal(decode(bytesOf([0xff, 0xfe], 'utf16le')), text)
  t.equal(decode(bytesOf([0xfe, 0xff], 'utf16le', true)), text)
  t.equal(decode(Buffer.from('é ’ 😀')), 'é ’ 😀')
  t.equal(decode(Buffer.alloc(0)), '')
})
