import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

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
  t.strictSame(
    [...new Set(rows.map(({ number }) => number))],
    Array.from({ length: 15 }, (_, index) => index + 1),
  )
  const unanswered = rows.filter(
    ({ complaint, files }) =>
      files.length === 0 || files.some((file) => !answers.some((answer) => answer.complaint === complaint && answer.file === file)),
  )
  t.strictSame(unanswered, [])
})

t.test('every test with the name of a complaint is in the table', async (t) => {
  t.strictSame(
    answers.filter(({ complaint }) => !rows.some((row) => row.complaint === complaint)),
    [],
  )
})
