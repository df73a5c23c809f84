import { readFileSync } from 'node:fs'
import t from 'tap'
import { repin } from '../../../../capture-runner/lists/refresh.ts'

const sources = readFileSync(new URL('../../../../capture-runner/lists/sources.ts', import.meta.url), 'utf8')

t.test('repin changes only the release', async (t) => {
  const text = repin(sources, { version: '9.9.9', integrity: 'sha512-abc' })
  t.match(text, "version: '9.9.9'")
  t.match(text, "'sha512-abc'")
  t.equal(text.split('\n').length, sources.split('\n').length)
  t.equal(repin(text, { version: '9.9.9', integrity: 'sha512-abc' }), text)
})
