import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import t from 'tap'
import { readSources } from '../../../support/sources/source-files.ts'

const INTERNALS = 'capture-runner/src/browser/playwright-internals.ts'
/** Members of other libraries' objects begin with an underscore if they are private. */
const PRIVATE = /(?<=[.{,;\s?])_[a-z]\w+(?=\??[:.,;)?\s])/g

/** HAR files name extensions in this way, too. */
const HAR = 'capture-runner/src/requests/har.ts'

const privateNamesOf = (code: string): string[] => [...new Set(code.match(PRIVATE))]

t.test('private names of Playwright are in one file', async (t) => {
  const files = readSources().filter(({ file }) => file.startsWith('capture-runner/src/'))
  t.ok(files.length > 100, `${files.length} files of the runner`)
  const strays = files.flatMap(({ file, code }) =>
    [INTERNALS, HAR].includes(file) ? [] : privateNamesOf(code).map((name) => `${file}: ${name}`),
  )
  t.strictSame(strays, [])
})

t.test('the installed Playwright has every private name that the runner uses', async (t) => {
  const { code } = readSources().find(({ file }) => file === INTERNALS)!
  const names = [...privateNamesOf(code), 'toImpl', 'delegate', 'createChildSession', 'disposeChildSession']
  t.ok(names.length > 8, names.join(' '))
  const require = createRequire(import.meta.url)
  const library = path.dirname(require.resolve('playwright-core/package.json'))
  const text = readFileSync(path.join(library, 'lib/coreBundle.js'), 'utf8')
  t.strictSame(
    names.filter((name) => !text.includes(name)),
    [],
  )
})
