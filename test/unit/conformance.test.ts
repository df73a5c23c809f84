import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { repository } from '../cluster/host/state.ts'
import { assertEvery } from '../support/accepts.ts'

// docs/conformance.md and the tests contain the same sentences.

const folder = 'test/e2e/conformance'
const elsewhere = ['test/unit/chart/environment.test.ts', 'test/unit/crds/options/catalog.test.ts']
const read = (file: string): string => readFileSync(path.join(repository, file), 'utf8')

/** The tested sentences, as `2.1: id is …`, and the file of each. */
function findTests(): Map<string, string> {
  const files = [...readdirSync(path.join(repository, folder)).map((name) => `${folder}/${name}`), ...elsewhere]
  return new Map(
    files.flatMap((file) =>
      [...read(file).matchAll(/(['"`])spec (\d+(?:\.\d+)?: .+?)\1/g)].map(([, , sentence = '']) => [sentence, file] as const),
    ),
  )
}

/** A row with a number, a sentence, and a link to a test file or a note instead. */
interface Row {
  sentence: string
  test: string
}

const rows: Row[] = [...read('docs/conformance.md').matchAll(/^\| (\d[\d.]*) \| (.*?) \| (.*?) \| .*\|$/gm)].map(
  ([, number = '', text = '', cell = '']) => ({
    sentence: `${number}: ${text.replaceAll('\\', '')}`,
    test: /\]\(\.\.\/(.*)\)/.exec(cell)?.[1] ?? cell,
  }),
)
const tests = findTests()

t.test('docs/conformance.md contains each tested sentence, with the file of its test', async (t) => {
  t.ok(tests.size > 150, `${tests.size} sentences`)
  const listed = new Map(rows.map(({ sentence, test }) => [sentence, test]))
  assertEvery(t, [...tests], ([sentence, file]) => listed.get(sentence) === file)
})

t.test('docs/conformance.md names only existing tests', async (t) => {
  const claimed = rows.filter(({ test }) => test.startsWith(folder) || elsewhere.includes(test))
  assertEvery(t, claimed, ({ sentence }) => tests.has(sentence))
  const files = rows.filter(({ test }) => test.startsWith('test/')).map(({ test }) => test)
  assertEvery(t, files, (file) => existsSync(path.join(repository, file)))
})

t.test('docs/conformance.md contains each sentence once', async (t) => {
  const sentences = rows.map(({ sentence }) => sentence)
  assertEvery(t, [...sentences.entries()], ([index, sentence]) => sentences.indexOf(sentence) === index)
})
