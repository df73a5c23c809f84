import { readFile } from 'node:fs/promises'
import path from 'node:path'
import t from 'tap'
import { HTTP_ERRORS, JOB_ERRORS, PROBLEM_CODES } from '../../../crds/src/schema/errors.ts'

// docs/api.md is written by hand, but its tables must match the code. A failure names the missing row.

const text = await readFile(path.join(import.meta.dirname, '../../../docs/api.md'), 'utf8')

/** The rows of the table below a heading. */
function rowsBelow(heading: string): string[] {
  const [, chapter = ''] = text.split(`\n### ${heading}\n`)
  const [table = ''] = chapter.split('\n#')
  return table.split('\n').filter((line) => line.startsWith('| ') && line.includes('`'))
}

const tables: [heading: string, rows: string[]][] = [
  ['Responses', Object.entries(HTTP_ERRORS).map(([code, { status, remedy }]) => `| ${status} | \`${code}\` | ${remedy} |`)],
  ['Problems in `error.details`', Object.entries(PROBLEM_CODES).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`)],
  ['Failed captures', Object.entries(JOB_ERRORS).map(([code, { remedy }]) => `| \`${code}\` | ${remedy} |`)],
]
for (const [heading, rows] of tables) {
  t.test(`docs/api.md lists exactly the codes under "${heading}"`, async (t) => {
    t.strictSame(rowsBelow(heading).sort(), rows.sort())
  })
}
