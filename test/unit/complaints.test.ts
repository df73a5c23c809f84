import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { assertEvery } from '../support/accepts.ts'

// docs/complaints.md lists the tests of each complaint: every listed test must exist, and every test must be listed.

const root = join(import.meta.dirname, '../..')
const ROW = /^\| (\d+) \| ([^|]+) \| [^|]+ \| (.+) \|$/gm
const LINK = /\]\(\.\.\/([^)]+)\)/g
const TITLE = /\.test\(\s*(['"`])complaint: ([^:]+): /g

const rows = [...readFileSync(join(root, 'docs/complaints.md'), 'utf8').matchAll(ROW)].map(([, number, complaint = '', links = '']) => ({
  number: Number(number),
  complaint,
  files: [...links.matchAll(LINK)].map(([, file = '']) => file),
}))
const answers = globSync('test/{integration,e2e}/**/*.test.ts', { cwd: root }).flatMap((file) =>
  [...readFileSync(join(root, file), 'utf8').matchAll(TITLE)].map(([, , complaint = '']) => ({ file, complaint })),
)

t.test('each of the fifteen complaints has a test with its name, in the file that the table names', async (t) => {
  const numbers = new Set(rows.map(({ number }) => number))
  t.strictSame([...numbers], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
  const isAnswered = (complaint: string, file: string) => answers.some((answer) => answer.complaint === complaint && answer.file === file)
  assertEvery(t, rows, ({ complaint, files }) => files.length > 0 && files.every((file) => isAnswered(complaint, file)))
})

t.test('every test with the name of a complaint is in the table', async (t) => {
  assertEvery(t, answers, ({ complaint }) => rows.some((row) => row.complaint === complaint))
})
