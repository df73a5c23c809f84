import t from 'tap'
import { parseUrls, readUrls, toUrl } from '../../../../api-gateway/cli/src/batch/urls.ts'

t.test('toUrl adds https where no scheme is', async (t) => {
  t.equal(toUrl('example.com/a'), 'https://example.com/a')
  t.equal(toUrl('localhost:3000'), 'https://localhost:3000')
  t.equal(toUrl('HTTP://example.com'), 'HTTP://example.com')
  t.equal(toUrl('ftp://example.com'), 'ftp://example.com', 'the service explains what is wrong')
})

t.test('parseUrls leaves out comments and empty lines', async (t) => {
  t.strictSame(parseUrls('# list\r\n\r\n  https://a.example \r\nb.example\n'), ['https://a.example', 'https://b.example'])
})

t.test('readUrls reads standard input and files', async (t) => {
  async function* stdin() {
    yield Buffer.from('a.exam')
    yield Buffer.from('ple\nb.example')
  }
  t.strictSame(await readUrls('-', stdin()), ['https://a.example', 'https://b.example'])
  const folder = t.testdir({ list: 'c.example\n' })
  t.strictSame(await readUrls(`${folder}/list`, stdin()), ['https://c.example'])
  await t.rejects(readUrls(`${folder}/none`, stdin()), { message: /cannot read the list of URLs/ })
})
